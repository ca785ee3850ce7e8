/** Texts that the engine itself sends. Short: they land in the middle of an agent's work. */

export function reportNowText(nonce: string): string {
  return [
    'You ended your turn without a report. Call the tool report_done if the task is finished and committed,',
    'report_blocked if you cannot go on, or ask_lead if you need an answer. Without these tools, end with one line that',
    `starts with WORKER_DONE[${nonce}], WORKER_BLOCKED[${nonce}] or WORKER_FAILED[${nonce}], then a colon and a summary.`,
  ].join(' ');
}

export function handOverText(file: string, bytes: number): string {
  return `Your next instruction is in the file ${file} (${bytes} bytes), because it cannot be typed here unchanged. Read the whole file now and follow it as if it stood here.`;
}

export function leadContinueText(): string {
  return [
    'You ended your turn, no worker is running and the goal is neither done nor failed.',
    'Go on: spawn workers, integrate, verify, then call mark_goal_done — or mark_goal_failed with the reason.',
    'If you wait for the person, end your turn again.',
  ].join(' ');
}

/** After a process that ended in the middle of its turn; the conversation is there. */
export function goOnText(reason: string): string {
  return `Your process ended before your turn was over (${reason}). Look at what is done already, then go on with the task.`;
}

export function noticesText(notices: readonly string[]): string {
  return ['[agentorchestr] News from your workers:', ...notices.map((notice) => `- ${notice}`)].join('\n');
}
