import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newConversation } from '../../../src/scripted/conversation.js';
import { chooseRule, flagPathIn } from '../../../src/scripted/play.js';
import { ACTIONS } from '../../../src/scripted/script-schema.js';
import { loadScript, parseScript } from '../../../src/scripted/script-load.js';

const problem = (text: string) => {
  try {
    parseScript(text, 'x.yaml');
  } catch (error) {
    return (error as { params: { problem: string } }).params.problem;
  }
  throw new Error('the script was taken');
};

describe('its guide', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../../docs/guides/scripted-agent.md'), 'utf8');

  it('shows a script that is one, and that plays what it says it does', () => {
    const [team = '', example = ''] = Array.from(guide.matchAll(/```yaml\n(.*?)```/gs), ([, text]) => text);
    expect(parseScript(team, 'team.yaml')).toMatchObject({ name: 'team', lead: [{ name: 'begin' }] });
    const script = parseScript(example, 'guide.yaml');
    const chosen = chooseRule(script.workers, newConversation('worker', {}), 'say hello');
    expect(chosen?.rule.steps).toMatchObject([{ action: 'say' }]);
    expect(script.workers.length).toBeGreaterThan(3);
  });

  it('names every step', () => {
    for (const action of ACTIONS) expect(guide).toContain(`\`${action}:`);
  });
});

describe('a script', () => {
  it('may be empty', () => {
    expect(parseScript('', 'x.yaml')).toMatchObject({ name: 'script', lead: [], workers: [] });
  });

  it('gives each step its action and its defaults', () => {
    const { lead } = parseScript(
      'lead: [{ steps: [{ say: hi }, { repeat: 2, steps: [{ run: ls }] }] }]',
      'x.yaml',
    );
    expect(lead[0]?.steps).toEqual([
      { action: 'say', say: 'hi' },
      {
        action: 'repeat',
        repeat: 2,
        as: 'index',
        steps: [{ action: 'run', run: 'ls', allow_fail: false, timeout_ms: 60_000 }],
      },
    ]);
  });

  it.each([
    [
      'lead:\n  - steps:\n      - sya: hello\n',
      /^x\.yaml:3:9: lead\.0\.steps\.0: no step is called "sya"; steps are: say, /,
    ],
    [
      'lead:\n  - steps:\n      - say: a\n        write: b\n',
      /^x\.yaml:3:9: .*one step does one thing; this one has say and write/,
    ],
    ['lead:\n  - steps:\n      - say: 5\n', /^x\.yaml:3:14: lead\.0\.steps\.0\.say: /],
    ['lead:\n  - steps:\n      - say: a\n        loud: true\n', /^x\.yaml:4:\d+: .*loud/],
    ['lead:\n  - steps:\n      - hello\n', /^x\.yaml:3:9: .*a step is a mapping/],
    ['lead:\n  - match: "(("\n    steps: []\n', /^x\.yaml:2:12: lead\.0\.match: not a regular expression/],
    [
      'lead:\n  - steps:\n      - repeat: 2\n        steps:\n          - crash: SIGnal\n',
      /^x\.yaml:5:20: .*an exit code or a signal/,
    ],
    ['leads: []\n', /^x\.yaml:1:\d+: .*leads/],
    ['lead: [\n', /^x\.yaml:2:1: /],
  ])('is refused with the place of each mistake: %j', (text, message) => {
    expect(problem(text)).toMatch(message);
  });

  it('is refused when the file does not exist', async () => {
    await expect(loadScript('/nowhere/x.yaml')).rejects.toMatchObject({ code: 'FILE_NOT_READABLE' });
  });
});

describe('the choice of a rule', () => {
  const choose = (text: string, prompt: string, state: Partial<ReturnType<typeof newConversation>> = {}) => {
    const { lead } = parseScript(text, 'x.yaml');
    const chosen = chooseRule(lead, { ...newConversation('lead', {}), ...state }, prompt);
    return chosen === null ? null : { key: chosen.key, captures: { ...chosen.captures } };
  };
  const rules = `
lead:
  - { name: twice, contains: [red, blue], times: 2, steps: [] }
  - { name: after, after: [twice, other], steps: [] }
  - { match: '^name: (?<who>\\w+)(?<more> .*)?$', steps: [] }
  - { name: known, if: { 'w.state': done }, steps: [] }
`;

  it.each([
    ['the first that fits', 'blue and red', {}, { key: 'twice', captures: {} }],
    ['none, where none fits', 'red', {}, null],
    ['not one that was used up', 'blue and red', { used: { twice: 2 } }, null],
    ['one that follows another', 'anything', { last_rule: 'other' }, { key: 'after', captures: {} }],
    [
      'one by a line of the prompt, with what it captured',
      'x\nname: Bob\ny',
      {},
      { key: '#2', captures: { who: 'Bob' } },
    ],
    [
      'one by what is known',
      'anything',
      { values: { w: { state: 'done' } } },
      { key: 'known', captures: {} },
    ],
  ])('is %s', (_name, prompt, state, chosen) => {
    expect(choose(rules, prompt, state)).toEqual(chosen);
  });

  it('finds the flag file that a prompt names', () => {
    expect(flagPathIn('summary below it to /data/s 1/w01/done.flag')).toBe('/data/s 1/w01/done.flag');
    expect(flagPathIn('to /data/s1/w01/done.flag (write')).toBe('/data/s1/w01/done.flag');
    expect(flagPathIn('`/a/done.flag`')).toBe('/a/done.flag');
    expect(flagPathIn('a relative done.flag')).toBeNull();
  });
});
