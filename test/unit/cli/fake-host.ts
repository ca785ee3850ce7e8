import type {
  CliHost,
  DetectedAgent,
  KnownAgent,
  SessionListing,
  Terminal,
} from '../../../src/doors/cli/host.js';

export interface FakeTerminal extends Terminal {
  readonly said: { out: string; err: string };
}

/** A terminal whose owner answers with `answers`, one line each, then leaves. */
export function fakeTerminal(options: { tty?: boolean; answers?: readonly string[] } = {}): FakeTerminal {
  const answers = [...(options.answers ?? [])];
  const said = { out: '', err: '' };
  const tty = options.tty ?? false;
  return {
    said,
    ...{ stdinIsTty: tty, stdoutIsTty: tty, stderrIsTty: tty, columns: 100, rows: 30 },
    out: (text) => void (said.out += text),
    err: (text) => void (said.err += text),
    ask: (question) => {
      said.err += question;
      return Promise.resolve(answers.shift() ?? null);
    },
    readLines: (done) => {
      const lines: string[] = [];
      while (answers.length > 0 && !done(lines)) lines.push(answers.shift() ?? '');
      return Promise.resolve(lines);
    },
    onKey: () => () => undefined,
    onResize: () => () => undefined,
    interrupted: new AbortController().signal,
    interruptOnHangUp: () => undefined,
  };
}

export function agent(name: string, more: Partial<DetectedAgent> = {}): DetectedAgent {
  return {
    name,
    displayName: name,
    kind: 'cli',
    binary: `/bin/${name}`,
    version: '1',
    orchestrate: 5,
    implement: 5,
    parallel: true,
    mcp: true,
    launchable: true,
    launchableAsLead: true,
    launchableInForeground: true,
    ...more,
  };
}

export function known(...agents: readonly DetectedAgent[]): KnownAgent[] {
  return agents.map(({ name, displayName, mcp, launchable, launchableAsLead, launchableInForeground }) => ({
    ...{ name, displayName, mcp, launchable, launchableAsLead, launchableInForeground },
    onlyByName: false,
    options: [],
  }));
}

export function sessionListing(session_id: string, more: Partial<SessionListing> = {}): SessionListing {
  return {
    ...{ session_id, state: 'done', cleaned_at: null, resumable: false, salvaged: false },
    ...{ workers_total: 0, workers_done: 0, created_at: '', updated_at: '', project: '/project', goal: 'x' },
    ...more,
  };
}

/** A host for what is decided before anything starts; whatever is not given fails the test when it is used. */
export function fakeHost(terminal: Terminal, given: Partial<CliHost> = {}): CliHost {
  const agents = [agent('one'), agent('two')];
  const host: Partial<CliHost> = {
    env: { HOME: '/home/nobody' },
    terminal,
    version: '1.2.3',
    isTemporary: false,
    now: () => Date.parse('2030-01-01T12:00:00Z'),
    newSessionId: () => '00000001',
    knownAgents: () => known(...agents),
    detectAgents: (names) =>
      Promise.resolve(agents.filter(({ name }) => names === null || names.includes(name))),
    listSessions: () => Promise.resolve([]),
    hasTmux: () => Promise.resolve(true),
    examineProject: (project) =>
      Promise.resolve({
        project,
        trusted: true,
        verifyCommands: [],
        setupCommands: [],
        consentNeeded: [],
        verifyGivenUnused: false,
        baseStatement: 'base main@0000000',
        leavesChangesOut: false,
      }),
    ...given,
  };
  return new Proxy(host, {
    get(target, name) {
      if (name in target) return Reflect.get(target, name) as unknown;
      throw new Error(`the test does not expect ${String(name)}`);
    },
  }) as CliHost;
}
