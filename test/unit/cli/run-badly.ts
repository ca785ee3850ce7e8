import { runProgram } from '../../../src/doors/cli/program.js';
import { agent, fakeHost, fakeTerminal, known } from './fake-host.js';

const settings = [
  { name: 'script', summary: 'what it plays', required: true, file: true },
  { name: 'pace', summary: 'seconds per pause', required: false, file: false },
];

/** Runs a command line that is wrong, and takes what is said of it apart. */
export async function run(...args: string[]) {
  const terminal = fakeTerminal();
  const player = { ...known(agent('player'))[0], options: settings } as ReturnType<typeof known>[number];
  const host = fakeHost(terminal, {
    knownAgents: () => [...known(agent('one'), agent('two')), player],
    detectAgents: (names) =>
      Promise.resolve(
        ['one', 'two', 'player']
          .filter((name) => (names === null ? name !== 'player' : names.includes(name)))
          .map((name) => agent(name)),
      ),
  });
  const code = await runProgram(host, args);
  const [, error, hint] =
    /^error: (.*)\nhint: (.*)\n$/s.exec(terminal.said.err.replace(/^warning: .*\n/gm, '')) ?? [];
  return { code, out: terminal.said.out, error: error ?? terminal.said.err, hint };
}
