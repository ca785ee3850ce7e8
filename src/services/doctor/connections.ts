import { toOrchestratorError } from '../../core/errors/error.js';
import type { DoctorDeps } from './deps.js';
import { failed, ok, warning, type CheckRow } from './row.js';

export async function checkMcp(deps: DoctorDeps, signal: AbortSignal): Promise<readonly CheckRow[]> {
  const subject = { name: 'MCP port' };
  try {
    const { port } = await deps.tryMcp(signal);
    return [ok(subject, `127.0.0.1:${port} answers, with a token only`)];
  } catch (error) {
    const { message } = toOrchestratorError(error);
    return [
      failed(subject, message, {
        advice: 'let programs of this machine listen on and reach 127.0.0.1 (sandbox, firewall); or npm ci',
      }),
    ];
  }
}

const PROXIES = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'] as const;
const EXCEPTION = /^(\*|127\.0\.0\.1|127\.\*|127\.0\.0\.0\/8)$/;

/** Agents would ask the proxy for our port. What stands in these variables may hold a password and is not shown. */
export function checkProxies({ env }: DoctorDeps): Promise<readonly CheckRow[]> {
  const subject = { name: 'proxies' };
  const set = PROXIES.filter((name) => (env[name] ?? '') !== '');
  if (set.length === 0) return Promise.resolve([ok(subject, 'none set for http')]);
  const excepted = ['no_proxy', 'NO_PROXY'].filter((name) =>
    (env[name] ?? '').split(/[\s,]+/).some((entry) => EXCEPTION.test(entry)),
  );
  if (excepted.length > 0)
    return Promise.resolve([ok(subject, `${set.join(', ')} set; ${excepted[0]} excepts 127.0.0.1`)]);
  const found = `${set.join(', ')} set, and NO_PROXY does not except 127.0.0.1: agents may not reach our tools`;
  const all = '127.0.0.1,localhost';
  const before = ['NO_PROXY', 'no_proxy'].find((name) => (env[name] ?? '') !== '');
  const value = before === undefined ? all : `"$${before}",${all}`;
  const command = `export NO_PROXY=${value} no_proxy=${value}`;
  return Promise.resolve([warning(subject, found, { command })]);
}
