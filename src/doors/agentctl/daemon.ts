import { EXIT } from '../../core/errors/categories.js';
import { FILES, type Offer } from '../shared/completion/offers.js';
import type { FlagRows } from '../shared/flag-row.js';
import { preflightLines } from '../shared/preflight-lines.js';
import { parseFlags, seconds, usage, type Options } from './arguments.js';
import type { AgentctlHost } from './host.js';
import { printAnswer } from './output.js';

/** A command about the daemon's process: no operation, for it must do without a daemon. */
export interface DaemonCommand {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  /** The rest of the line is agentd's. */
  readonly handsOn?: true;
  readonly flags: FlagRows;
  /** For completion, of what is given without a flag. */
  readonly offers?: readonly Offer[];
  run(host: AgentctlHost, args: readonly string[], options: Options): Promise<number>;
}

const STOP_LIMIT_S = '60';

export const DAEMON_COMMANDS: readonly DaemonCommand[] = [
  {
    name: 'daemon start',
    usage: 'agentctl daemon start [FLAGS OF agentd]',
    summary:
      'Start agentd in the background, in this folder; does nothing where it runs (flags: agentd --help).',
    handsOn: true,
    flags: {},
    async run(host, args, options) {
      const { target, isUrlGiven, quiet } = options;
      const answer = await host.daemon.start(target, { args, isUrlGiven });
      if (answer['already_running'] === true && args.length > 0 && !quiet)
        host.err('note: it runs already, as it was started; agentctl daemon stop first for other flags\n');
      return printAnswer(host, answer, options);
    },
  },
  {
    name: 'daemon preflight',
    usage: 'agentctl daemon preflight [FLAGS OF agentd]',
    summary: 'Say whether agentd could start with these flags, and what to mend; changes nothing.',
    handsOn: true,
    flags: {},
    async run(host, args, options) {
      const found = await host.daemon.preflight(options.target, { args, isUrlGiven: options.isUrlGiven });
      const forPeople = options.field === null && ['pretty', 'text'].includes(options.format);
      if (forPeople) host.out(preflightLines(found));
      const printed = forPeople ? EXIT.ok : printAnswer(host, found, options);
      return printed === EXIT.ok && !found.ok ? EXIT.operation : printed;
    },
  },
  {
    name: 'daemon stop',
    usage: 'agentctl daemon stop [--now] [--wait S]',
    summary:
      'Stop agentd: what runs may end first, as long as its --grace says; then, or when stopped again, it is interrupted.',
    flags: {
      now: { type: 'boolean', summary: 'interrupt what runs at once' },
      wait: { type: 'string', value: 'S', summary: 'how long to wait for its end (60)' },
    },
    async run(host, args, options) {
      const given = parseFlags(args, this.flags, 'agentctl daemon stop');
      noMore(given.positionals, this.usage);
      if (host.env['AGENTORCHESTR_RUN_ID'] !== undefined)
        throw usage('an agent does not stop the agentd that it works for', 'leave that to the person');
      const limitMs = seconds('wait', String(given.values['wait'] ?? STOP_LIMIT_S)) * 1_000;
      const now = given.values['now'] === true;
      const answer = await host.daemon.stop(options.target, { limitMs, now });
      const printed = printAnswer(host, answer, options);
      return printed === EXIT.ok && answer.was_running && !answer.stopped ? EXIT.goesOn : printed;
    },
  },
  {
    name: 'daemon backup',
    usage: 'agentctl daemon backup FILE [--db FILE]',
    summary:
      'Copy the database into FILE, also while agentd and its runs write; proves that the copy is whole.',
    flags: {
      db: { type: 'string', value: 'FILE', offers: FILES, summary: 'which database (that of the daemon)' },
    },
    offers: [FILES],
    async run(host, args, options) {
      const given = parseFlags(args, this.flags, 'agentctl daemon backup');
      const [file, ...more] = given.positionals;
      if (file === undefined) throw usage('a backup needs the name of a file', `write ${this.usage}`);
      noMore(more, this.usage);
      const { db } = given.values;
      const database = typeof db === 'string' ? db : null;
      return printAnswer(host, await host.daemon.backup(options.target, { file, database }), options);
    },
  },
  {
    name: 'daemon logs',
    usage: 'agentctl daemon logs [--lines N] [--follow]',
    summary: 'Show the last lines of the log of an agentd that agentctl started, and those to come.',
    flags: {
      lines: { type: 'string', value: 'N', summary: 'how many (50)' },
      follow: { type: 'boolean', short: 'f', summary: 'go on with those to come' },
    },
    async run(host, args, options) {
      const given = parseFlags(args, this.flags, 'agentctl daemon logs');
      noMore(given.positionals, this.usage);
      const most = Math.floor(seconds('lines', String(given.values['lines'] ?? '50')));
      const asJson = options.format === 'jsonl' || options.format === 'json';
      const onLine = (line: string) => host.out(`${asJson ? JSON.stringify({ line }) : line}\n`);
      if (given.values['follow'] === true) {
        await host.daemon.followLogs(options.target, most, { onLine, signal: host.interrupted() });
        return EXIT.ok;
      }
      const lines = await host.daemon.logs(options.target, most);
      if (options.field !== null || options.format === 'json') return printAnswer(host, { lines }, options);
      lines.forEach(onLine);
      return EXIT.ok;
    },
  },
];

function noMore([first]: readonly string[], line: string): void {
  if (first !== undefined) throw usage(`unexpected argument "${first}"`, `write ${line}`);
}
