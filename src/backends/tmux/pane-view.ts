import type { InteractiveLaunch, Screen } from '../../agents/contract.js';
import { parseScreen, readScreen, type Reading } from './screen.js';
import { capturePane } from './text.js';
import type { ControlClient } from './types.js';

/** One pane at one instant. */
export interface Look {
  readonly dead: boolean;
  readonly inMode: boolean;
  readonly inputOff: boolean;
  /** The program uses the alternate screen: what scrolls off is gone. */
  readonly alternate: boolean;
  /** What an earlier supervisor kept about the pane with `rememberPasteMode`; null when nothing. */
  readonly keptPasteMode: boolean | null;
  readonly tty: string;
  readonly screen: Screen;
  readonly reading: Reading;
}

/** Its rows as one text, without the blank end. */
export function shownText({ screen }: Look): string {
  return screen.rows.join('\n').trimEnd();
}

const PASTE_OPTION = '@agentorchestr_paste';
// Numbers, words without blanks, the path last: separators other than a blank come back as `_` in some locales.
const FACTS = `#{pane_dead} #{pane_in_mode} #{pane_input_off} #{alternate_on} #{cursor_y} #{cursor_x} [#{${PASTE_OPTION}}] #{pane_pid} #{pane_tty}`;

/** Reads of one pane over the control connection. All of them throw TMUX_FAILED or TMUX_LOST when it is not there. */
export class PaneView {
  private readonly client: ControlClient;
  private readonly paneId: string;
  private readonly launch: InteractiveLaunch;
  private underway: Promise<Look> | null = null;

  constructor(client: ControlClient, paneId: string, launch: InteractiveLaunch) {
    this.client = client;
    this.paneId = paneId;
    this.launch = launch;
  }

  /** The pane as it is after all that was seen and done so far; several who want that share one answer. */
  lookShared(): Promise<Look> {
    if (this.underway !== null) return this.underway;
    const look = this.look();
    // A failure belongs to those who asked; here it only ends the sharing.
    void look
      .catch(() => undefined)
      .then(() => {
        if (this.underway === look) this.underway = null;
      });
    return (this.underway = look);
  }

  /** Something happened to the pane: an answer that is under way may be too old. */
  outdate(): void {
    this.underway = null;
  }

  /** Facts and screen are asked in one go: nothing of ours comes between them. */
  async look(): Promise<Look> {
    const [facts, lines] = await Promise.all([
      this.client.command('display-message', '-p', '-t', this.paneId, FACTS),
      this.client.command('capture-pane', '-p', '-e', '-t', this.paneId),
    ]);
    const [dead, mode, inputOff, alternate, row, column, paste, pid, tty] = (facts[0] ?? '').split(' ');
    const screen = parseScreen(lines, { row: Number(row), column: Number(column) });
    return {
      dead: dead === '1',
      inMode: mode !== '0' && mode !== '',
      inputOff: inputOff === '1',
      alternate: alternate === '1',
      keptPasteMode: paste === `[on.${pid}]` ? true : paste === `[off.${pid}]` ? false : null,
      tty: tty ?? '',
      screen,
      reading: readScreen(this.launch.screen, screen),
    };
  }

  /** The last `count` lines of scrollback and screen, lines that tmux wrapped joined, no styles, no blank end. */
  lines(count: number): Promise<readonly string[]> {
    return capturePane(this.client, this.paneId, count);
  }

  /** True when a person's terminal shows the session; control clients are ours. */
  async hasViewer(): Promise<boolean> {
    const clients = await this.client.command('list-clients', '-F', '#{client_control_mode}');
    return clients.includes('0');
  }

  /** Kept in the server for this program, so that a supervisor that adopts it knows what it did not see switched. */
  async rememberPasteMode(on: boolean): Promise<void> {
    await this.client.command(
      'set-option',
      '-p',
      '-F',
      '-t',
      this.paneId,
      PASTE_OPTION,
      `${on ? 'on' : 'off'}.#{pane_pid}`,
    );
  }

  /** Ends copy-mode and every other mode; keys reach the program again. */
  async leaveModes(): Promise<void> {
    await this.client.command('copy-mode', '-q', '-t', this.paneId);
  }

  async pressKey(key: string): Promise<void> {
    this.outdate();
    await this.client.command('send-keys', '-t', this.paneId, key);
  }
}
