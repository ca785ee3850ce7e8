/** Values of a conversation, by name. */
export type Scope = Readonly<Record<string, unknown>>;

/** A mistake of the script, or something it expected and did not get: the turn fails with this text. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure';
}

const WHOLE = /^\{\{\s*([^{}]+?)\s*\}\}$/;
const PART = /\{\{\s*([^{}]+?)\s*\}\}/g;

/** What a dotted path leads to; undefined where it leads nowhere. */
export function lookUp(scope: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => {
    return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      ? (value as Scope)[key]
      : undefined;
  }, scope);
}

/**
 * Fills `{{path}}` in every string of a value. A string that is one placeholder and nothing else becomes the value
 * itself (number, list …). Throws StepFailure for a path that leads nowhere.
 */
export function render<T>(value: T, scope: Scope): T {
  return renderAny(value, scope) as T;
}

function renderAny(value: unknown, scope: Scope): unknown {
  if (typeof value === 'string') return renderText(value, scope);
  if (Array.isArray(value)) return value.map((item) => renderAny(item, scope));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renderAny(item, scope)]));
}

function renderText(text: string, scope: Scope): unknown {
  const need = (path: string) => {
    const found = lookUp(scope, path);
    if (found === undefined) throw new StepFailure(`the script uses {{${path}}}, which has no value here`);
    return found;
  };
  const whole = WHOLE.exec(text)?.[1];
  if (whole !== undefined) return need(whole);
  return text.replace(PART, (_, path: string) => {
    const found = need(path);
    return typeof found === 'string' ? found : JSON.stringify(found);
  });
}

/** The first condition that does not hold, in words; null when all hold. Paths start at `value`. */
export function firstUnmet(conditions: Scope, value: unknown): string | null {
  for (const [path, wanted] of Object.entries(conditions)) {
    const actual = path === '' ? value : lookUp(value, path);
    if (!holds(wanted, actual)) return `${path} is ${brief(actual)}, wanted ${brief(wanted)}`;
  }
  return null;
}

function holds(wanted: unknown, actual: unknown): boolean {
  if (Array.isArray(wanted)) return wanted.some((one) => holds(one, actual));
  if (typeof wanted !== 'object' || wanted === null) return wanted === actual;
  return Object.entries(wanted).every(([key, operand]) => {
    if (key === 'match')
      return new RegExp(String(operand), 'm').test(
        typeof actual === 'string' ? actual : JSON.stringify(actual ?? null),
      );
    if (key === 'not') return !holds(operand, actual);
    if (key === 'exists') return (actual !== undefined) === operand;
    if (key === 'count') return Array.isArray(actual) && holds(operand, actual.length);
    if (key === 'equals') return JSON.stringify(operand) === JSON.stringify(actual);
    return holds(operand, lookUp(actual, key));
  });
}

export function brief(value: unknown, limit = 120): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'absent');
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}
