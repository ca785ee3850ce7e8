import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/doors/cli/commands.js';
import { FLAT_FLAGS, SETTING_FLAGS, type Flag } from '../../../src/doors/cli/flags.js';
import { ALL_COMMANDS } from '../../../src/doors/cli/operation-commands.js';
import { OPERATIONS } from '../../../src/services/operations/index.js';
import { run } from './run-badly.js';

/** flag, what is typed, what is said; `hint` is a part. */
const BAD: readonly [flag: string, args: string[], error: string, hint: string, code?: number][] = [
  ['goal', ['--goal'], '--goal needs a value', '--goal TEXT (--goal=VALUE when it begins with a dash)'],
  ['goal', ['--goal', ' '], 'no goal given', '--goal-file FILE'],
  ['goal', ['--goal', 'a', '--goal', 'b'], '--goal is given more than once', 'give it once'],
  ['goal-file', ['--goal-file', ''], '--goal-file is empty', 'name a text file'],
  [
    'goal-file',
    ['--goal-file', '/no/where'],
    'cannot read /no/where: it does not exist',
    'check the path',
    1,
  ],
  [
    'goal-file',
    ['--goal', 'a', '--goal-file', 'b'],
    '--goal and --goal-file are two ways to give one goal',
    'in one way',
  ],
  ['manual', ['--manual=now'], '--manual takes no value (got "now")', 'write --manual, or leave it out'],
  ['task', ['--manual', '--task'], '--task needs a value', '--task TEXT'],
  ['task', ['--task', 'x'], '--task is for --manual', 'agentorchestr --manual --task "'],
  ['agent', ['--goal', 'x', '--agent', 'one'], '--agent is for --manual', '--agents NAME…, --lead NAME'],
  ['resume', ['--resume'], 'no session of this project can go on', 'start one', 1],
  ['resume', ['--resume', ''], '--resume needs a value', '--resume ID'],
  [
    'resume',
    ['--resume', '3f2a', '--lead', 'a'],
    '--resume and --lead cannot be used together',
    'the settings that it began with',
  ],
  [
    'resume',
    ['--resume', '3f2a', '--list-sessions'],
    '--resume and --list-sessions cannot be used together',
    'began with',
  ],
  [
    'resume',
    ['--resume', '3f2a', '--json', '--attach'],
    '--attach and --json contradict each other',
    'shows no panes',
  ],
  ['interactive', ['--interactive'], '--interactive needs a terminal', '--goal-file'],
  [
    'interactive',
    ['--interactive', '--goal', 'a'],
    '--goal and --interactive are two ways to give one goal',
    'in one way',
  ],
  ['interactive', ['--interactive=please'], '--interactive takes no value (got "please")', 'leave it out'],
  ['project', ['--goal', 'a', '--project', ''], '--project is empty', 'name the folder'],
  ['agents', ['--goal', 'a', '--agents'], '--agents needs a value', '--agents NAME…'],
  ['agents', ['--goal', 'a', '--agents', ','], '--agents needs a value', '--agents NAME…'],
  ['agents', ['--goal', 'a', '--agents', 'nobody'], 'no agent "nobody"', 'agents are: one, two, player', 1],
  ['lead', ['--goal', 'a', '--lead', 'nobody'], 'no agent "nobody"', 'agents are: one, two, player', 1],
  [
    'lead',
    ['--goal', 'a', '--agents', 'one', '--lead', 'two'],
    '--lead two is not among --agents one',
    'another lead',
    1,
  ],
  [
    'agent-option',
    ['--goal', 'a', '--agent-option', 'x'],
    '--agent-option "x" is not of the form NAME.KEY=VALUE',
    'the agent, a dot',
  ],
  ['agent-option', ['--goal', 'a', '--agent-option', 'who.script=x'], 'no agent "who"', 'agents are: one', 1],
  [
    'agent-option',
    ['--goal', 'a', '--agent-option', 'one.script=x'],
    '--agent-option: one has no setting "script"',
    'one has no settings',
  ],
  [
    'agent-option',
    ['--goal', 'a', '--agent-option', 'player.scirpt=x'],
    '--agent-option: player has no setting "scirpt"',
    'did you mean player.script?',
  ],
  [
    'agent-option',
    ['--goal', 'a', '--agent-option', 'player.pace='],
    '--agent-option player.pace has an empty value',
    'seconds per pause',
  ],
  [
    'agent-option',
    ['--goal', 'a', '--agent-option', 'player.script=/no/where'],
    'cannot read /no/where: no such file',
    'check the path',
    1,
  ],
  [
    'agent-option',
    ['--goal', 'a', '--agents', 'player'],
    'player needs its script: what it plays',
    '--agent-option player.script=FILE',
  ],
  ['verify', ['--goal', 'a', '--verify', ' '], '--verify has an empty command', 'npm test'],
  [
    'include-changes',
    ['--include-changes=yes', '--goal', 'a'],
    '--include-changes takes no value (got "yes")',
    'leave it out',
  ],
  [
    'interactive',
    ['--no-interactive', '--goal', 'a'],
    'unknown flag --no-interactive',
    'leave --interactive out',
  ],
  ['fetch', ['--fetch=1', '--goal', 'a'], '--fetch takes no value (got "1")', 'leave it out'],
  ['apply', ['--apply=1', '--goal', 'a'], '--apply takes no value (got "1")', 'leave it out'],
  [
    'max-workers',
    ['--goal', 'a', '--max-workers', 'many'],
    '--max-workers takes a whole number from 1 to 64 (got "many")',
    '--max-workers 4',
  ],
  [
    'max-workers',
    ['--goal', 'a', '--max-workers', '0'],
    '--max-workers takes a whole number from 1 to 64 (got "0")',
    '--max-workers 4',
  ],
  [
    'max-workers',
    ['--goal', 'a', '--max-workers', '65'],
    '--max-workers takes a whole number from 1 to 64 (got "65")',
    '--max-workers 4',
  ],
  [
    'max-workers',
    ['--goal', 'a', '--max-workers=-1'],
    '--max-workers takes a whole number from 1 to 64 (got "-1")',
    '--max-workers 4',
  ],
  [
    'max-workers',
    ['--goal', 'a', '--max-workers', '2.5'],
    '--max-workers takes a whole number from 1 to 64 (got "2.5")',
    '--max-workers 4',
  ],
  [
    'session-timeout',
    ['--goal', 'a', '--session-timeout', '10m'],
    '--session-timeout takes a whole number from 1 to 31536000 (got "10m")',
    'after an hour',
  ],
  [
    'run-timeout',
    ['--goal', 'a', '--run-timeout', '0'],
    '--run-timeout takes a whole number from 1 to 31536000 (got "0")',
    '--run-timeout 1800',
  ],
  [
    'stall-after',
    ['--goal', 'a', '--stall-after', '10m'],
    '--stall-after takes a whole number from 0 to 31536000 (got "10m")',
    '--stall-after 300',
  ],
  [
    'bypass',
    ['--goal', 'a', '--bypass', '--no-bypass'],
    '--bypass and --no-bypass contradict each other',
    'give it once',
  ],
  ['headless', ['--goal', 'a', '--headless=yes'], '--headless takes no value (got "yes")', 'leave it out'],
  [
    'lead-may-answer',
    ['--goal', 'a', '--lead-may-answer=yes'],
    '--lead-may-answer takes no value (got "yes")',
    'leave it out',
  ],
  [
    'attach',
    ['--goal', 'a', '--attach', '--no-attach'],
    '--attach and --no-attach contradict each other',
    'give it once',
  ],
  [
    'attach',
    ['--goal', 'a', '--attach', '--json'],
    '--attach and --json contradict each other',
    'shows no panes',
  ],
  ['attach', ['--goal', 'a', '--attach=no'], '--attach takes no value (got "no")', '--attach or --no-attach'],
  [
    'kill-tmux',
    ['--goal', 'a', '--kill-tmux', '--no-tmux-cleanup'],
    '--kill-tmux and --no-tmux-cleanup contradict each other',
    'keeps them',
  ],
  [
    'tmux-cleanup',
    ['--goal', 'a', '--tmux-cleanup', '--no-tmux-cleanup'],
    '--tmux-cleanup and --no-tmux-cleanup contradict each other',
    'give it once',
  ],
  ['yes', ['--goal', 'a', '--yes=maybe'], '--yes takes no value (got "maybe")', 'leave it out'],
  ['json', ['--goal', 'a', '--no-json'], 'unknown flag --no-json', 'leave --json out'],
  ['detect', ['--detect', '--goal', 'x'], '--detect and --goal cannot be used together', 'one thing only'],
  [
    'detect',
    ['--detect', '--list-sessions'],
    '--detect and --list-sessions cannot be used together',
    'one thing only',
  ],
  ['doctor', ['--doctor', '--yes'], '--doctor and --yes cannot be used together', 'one thing only'],
  ['fix', ['--fix', '--detect'], '--fix is for --doctor', 'agentorchestr --doctor --fix'],
  [
    'fix',
    ['--doctor', '--fix', '--goal', 'x'],
    '--doctor and --goal cannot be used together',
    'one thing only',
  ],
  ['fix', ['--doctor', '--fix=yes'], '--fix takes no value', 'leave it out'],
  [
    'list-sessions',
    ['--list-sessions', '--yes'],
    '--list-sessions and --yes cannot be used together',
    'one thing only',
  ],
  ['version', ['--version', '--goal', 'x'], '--version and --goal cannot be used together', 'one thing only'],
  ['help', ['--hlep'], 'unknown flag --hlep', 'did you mean --help?'],
  ['(none)', ['--frobnicate'], 'unknown flag --frobnicate', 'agentorchestr --help'],
  ['(none)', ['-x'], 'unknown flag -x', 'agentorchestr --help'],
  ['(none)', ['--goal', 'a', 'b'], 'unexpected argument "b"', 'quotes'],
  ['(none)', ['Add a test'], 'unknown command "Add a test"', '--goal "…"'],
  ['(none)', ['repair', 'the', 'tests'], 'unknown command "repair"', '--goal "…"'],
  ['(none)', ['resume', 'abcd'], 'unknown command "resume"', 'did you mean: agentorchestr --resume abcd'],
  ['(none)', ['list'], 'unknown command "list"', 'did you mean: agentorchestr --list-sessions'],
  ['(none)', ['frobnicate', '--json'], 'unknown command "frobnicate"', 'agentorchestr --help'],
  ['log --worker', ['log', '--worker', 'two'], '--worker "two" is no worker id', 'w01'],
  ['log --worker', ['log', '--worker'], '--worker needs a value', '--worker ID'],
  ['log --follow', ['log', '--no-follow'], 'unknown flag --no-follow', 'did you mean --follow?'],
  ['log --json', ['log', '--json=x'], '--json takes no value (got "x")', 'leave it out'],
  ['log --output', ['log', '--output'], '--output is the terminal of one worker', '--worker w01 --output'],
  ['status --watch', ['status', '--wacth'], 'unknown flag --wacth', 'did you mean --watch?'],
  ['config', ['config', 'unset'], 'config unset needs a key', 'keys are: lead'],
  ['config', ['config', 'unset', 'lead', 'x'], 'unexpected argument "x"', 'a list is one text'],
  ['status --json', ['status', '--jsno'], 'unknown flag --jsno', 'did you mean --json?'],
  ['status', ['status', 'a', 'b'], 'unexpected argument "b"', 'takes one ID'],
  ['pause --json', ['pause', '--json=x'], '--json takes no value (got "x")', 'leave it out'],
  ['stop --json', ['stop', '--json=x'], '--json takes no value (got "x")', 'leave it out'],
  ['stop --reason', ['stop', '--reason'], '--reason needs a value', '--reason TEXT'],
  ['config --json', ['config', '--json=x'], '--json takes no value (got "x")', 'leave it out'],
  ['config --project', ['config', '--project=x'], '--project takes no value (got "x")', 'leave it out'],
  ['attach', ['attach', 'a', 'b'], 'unexpected argument "b"', 'takes one ID'],
  [
    'demo --pace',
    ['demo', '--pace', 'slow'],
    '--pace takes seconds from 0 to 60 (got "slow")',
    '0 is as fast',
  ],
  ['attach --fit', ['attach', '--fit=x'], '--fit takes no value (got "x")', 'leave it out'],
  ['demo --keep', ['demo', '--keep=x'], '--keep takes no value (got "x")', 'leave it out'],
  ['demo --json', ['demo', '--json', '--json=x'], '--json takes no value (got "x")', 'leave it out'],
  [
    'demo --attach',
    ['demo', '--attach', '--no-attach'],
    '--attach and --no-attach contradict each other',
    'give it once',
  ],
  ['attention', ['attention', 'a', 'b'], 'unexpected argument "b"', 'takes one ID'],
  ['attention --watch', ['attention', '--watch=x'], '--watch takes no value (got "x")', 'leave it out'],
  ['attention --json', ['attention', '--json=x'], '--json takes no value (got "x")', 'leave it out'],
  ['answer', ['answer'], 'which worker is answered?', 'answer w02 --choice 1'],
  ['answer', ['answer', 'w01'], 'no answer given', '--text "…" for a question'],
  ['answer --choice', ['answer', 'w01', '--choice', 'yes'], '--choice takes the number', 'shows the choices'],
  ['answer --choice', ['answer', 'w01', '--choice', '0'], '--choice takes the number', 'shows the choices'],
  [
    'answer --text',
    ['answer', 'w01', '--text', 'a', '--choice', '1'],
    '--choice and --text contradict each other',
    'one of them',
  ],
  [
    'answer --prompt-hash',
    ['answer', 'w01', '--choice', '1'],
    'without a terminal the prompt must be named: --prompt-hash is missing',
    'agentorchestr attention',
  ],
  ['answer --message', ['answer', 'w01', '--message'], '--message needs a value', '--message TEXT'],
  ['answer --session', ['answer', 'w01', '--session'], '--session needs a value', '--session ID'],
  ['answer --json', ['answer', 'w01', '--json=x'], '--json takes no value (got "x")', 'leave it out'],
  ['merge', ['merge', 'a', 'b'], 'unexpected argument "b"', 'takes one ID'],
  ['merge --anyway', ['merge', '--anyway=x'], '--anyway takes no value (got "x")', 'leave it out'],
  ['merge --json', ['merge', '--json=x'], '--json takes no value (got "x")', 'leave it out'],
  ['clean', ['clean'], 'which sessions are cleaned?', '--all-done'],
  ['clean --all-done', ['clean', '--all-done'], 'cannot ask here', 'say --yes'],
  ['clean --dry-run', ['clean', '--dry-run'], 'which sessions are cleaned?', 'name them'],
  ['clean --yes', ['clean', '--yes=x'], '--yes takes no value (got "x")', 'leave it out'],
  [
    'clean --give-up',
    ['clean', '--all-done', '--give-up'],
    '--give-up is for sessions that are named',
    'clean 3f2a --give-up',
  ],
  ['clean --json', ['clean', '--all-done', '--json'], 'cannot ask here', '--dry-run'],
  ['salvage', ['salvage'], 'salvage what?', 'salvage list'],
  ['salvage', ['salvage', 'lost'], 'unknown: salvage lost', 'salvage list'],
  ['salvage', ['salvage', 'list', 'a', 'b'], 'unexpected argument "b"', 'salvage list [ID]'],
  ['salvage', ['salvage', 'restore'], 'which work is restored?', 'salvage list'],
  ['salvage --to', ['salvage', 'list', '--to', 'x'], '--to goes with restore', 'a session'],
  [
    'salvage --branch',
    ['salvage', 'restore', '3f2a/w01', '--to', 'x', '--branch', 'y'],
    '--to and --branch contradict each other',
    'give one',
  ],
  ['salvage --json', ['salvage', 'list', '--json=x'], '--json takes no value (got "x")', 'leave it out'],
  ['demo', ['demo', 'now'], 'unexpected argument "now"', 'takes no argument'],
  ['send-to-worker', ['send-to-worker', 'w01', 'a', 'b'], 'unexpected argument "b"', 'WORKER-ID MESSAGE'],
  ['send-to-worker', ['send-to-worker', 'w01', '--worker-id', 'w02'], 'worker-id is given twice', 'once'],
  [
    'mark-goal-done',
    ['mark-goal-done', 'x', '--discard', 'w01'],
    '--discard is not JSON: ',
    '--discard \'{"worker"',
  ],
];

describe('bad input', () => {
  it.each(BAD)('of %s: %j', async (_flag, args, error, hint, code = 64) => {
    const result = await run(...args);
    expect(result.error).toContain(error);
    expect(result.hint).toContain(hint);
    expect(result.code).toBe(code);
    expect(result.out === '').toBe(!args.some((arg) => arg === '--json'));
  });

  const named = (prefix: string, flags: readonly Flag[]) =>
    flags.filter(({ name }) => name !== 'help').map(({ name }) => `${prefix}${name}`);

  it('has a test for every flag', () => {
    const tested = new Set(BAD.map(([flag]) => flag));
    const flags = [
      ...named('', FLAT_FLAGS),
      ...COMMANDS.flatMap(({ name, flags: own }) =>
        // The very same flags as those of a goal.
        named(
          `${name} --`,
          own.filter((flag) => !SETTING_FLAGS.includes(flag)),
        ),
      ),
    ];
    expect(flags.filter((flag) => !tested.has(flag))).toEqual([]);
  });
});

describe('commands', () => {
  it('offer exactly the operations of the table that are for the command line', () => {
    const offered = OPERATIONS.filter(({ doors }) => doors.cli === true).map(({ name }) =>
      name.replaceAll('_', '-'),
    );
    const hand = ['attach', 'log', 'demo', 'attention', 'answer', 'salvage', 'config', 'completion'];
    expect(ALL_COMMANDS.map(({ name }) => name).sort()).toEqual([...offered, ...hand].sort());
  });

  it.each(ALL_COMMANDS.map(({ name }) => name))('%s explains itself', async (name) => {
    const { code, out } = await run(name, '--help');
    expect(code).toBe(0);
    expect(out).toContain(`usage\n  agentorchestr ${name}`);
  });

  it('the help shows examples first, and every section fits a screen', async () => {
    const { code, out } = await run('--help');
    expect(code).toBe(0);
    expect(out.indexOf('examples')).toBeLessThan(out.indexOf('--goal-file FILE'));
    expect(out.split('\n').filter((line) => [...line].length > 80)).toEqual([]);
    expect(Math.max(...out.split('\n\n').map((section) => section.split('\n').length))).toBeLessThan(24);
  });
});
