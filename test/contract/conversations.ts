import { bash, call, killsItself, program, say } from '../support/mock-llm/program.js';
import { says, type Rule } from '../support/mock-llm/reply.js';

/** The same conversations, for the scripted agent as a script, for the others as what their model says. */

export const commit = (name: string) => `echo ${name} > ${name}.txt && git add -A && git commit -qm ${name}`;
const report = (summary: string) => call('report_done', { summary });

/** `gated`: a command that the agent asks about when it may not do as it likes. */
export function modelOf(gated: Parameters<typeof bash>): readonly Rule[] {
  return [
    program('makes', says('make it'), function* () {
      yield bash(commit('made'));
      yield report('it is made');
      yield say('Done.');
      yield bash(commit('again'));
      yield report('made again');
      yield say('Done again.');
    }),
    program('asks', says('ask me first'), function* () {
      yield call('ask_lead', { question: 'which colour?' });
      const { prompt } = yield say('I wait for the answer.');
      yield bash(commit('coloured'));
      yield report(`it is ${/blue|red/.exec(prompt)?.[0] ?? 'grey'}`);
      yield say('Done.');
    }),
    program('wants leave', says('ask before it'), function* () {
      yield bash(...gated);
      const { results } = yield report('I was answered');
      // It has nothing to show for it where it was refused.
      if (results[0]?.['accepted'] !== true) yield report('I was answered');
      yield say('Done.');
    }),
    { name: 'endless', when: says('never end'), steps: [{ until: new Promise(() => undefined) }] },
    program('dies', says('die of it'), function* () {
      yield killsItself();
      yield bash(commit('revived'));
      yield report('it is done after all');
      yield say('Done.');
    }),
  ];
}

export const SCRIPT = `
lead:
  - steps: [{ silence: true }]
workers:
  - name: makes
    contains: make it
    steps: [{ write: made.txt, content: made }, { commit: made }, { report_done: it is made }]
  - name: makes again
    contains: once more
    steps: [{ write: again.txt, content: again }, { commit: again }, { report_done: made again }]
  - name: asks
    contains: ask me first
    steps: [{ ask_lead: 'which colour?' }]
  - name: is answered
    contains: blue
    steps: [{ write: coloured.txt, content: blue }, { commit: blue }, { report_done: it is blue }]
  - name: wants leave
    contains: ask before it
    steps: [{ permission: May I?, go_on: true }, { write: a.txt, content: a }, { commit: a }, { report_done: I was answered }]
  - name: endless
    contains: never end
    steps: [{ silence: true }]
  - name: dies
    contains: die of it
    steps: [{ crash: SIGKILL }]
  - name: revived
    contains: go on now
    steps: [{ write: revived.txt, content: x }, { commit: revived }, { report_done: it is done after all }]
`;
