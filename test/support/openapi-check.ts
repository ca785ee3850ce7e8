import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, unknown>> }>>;
}

export interface Exchange {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly status: number;
  readonly type: string;
  readonly body: unknown;
}

/** Throws for an answer that the document does not describe; addresses that are not in it may fail as a problem only. */
export type Check = (exchange: Exchange) => void;

/** Of the document that a daemon serves. */
export function checkAgainst(document: object): Check {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, 'document');
  const { paths } = document as Document;
  const compiled = new Map<string, ValidateFunction>();
  const validate = (pointer: string, body: unknown, what: string) => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` });
    compiled.set(pointer, known);
    if (known(body)) return;
    throw new Error(`${what} is not what the OpenAPI document says: ${ajv.errorsText(known.errors)}`);
  };
  return ({ method, path, status, type, body }) => {
    const what = `the answer to ${method} ${path} (${status})`;
    const [mime = ''] = type.split(';');
    const template = templateOf(Object.keys(paths), path.split('?')[0] ?? '');
    const operation = template === undefined ? undefined : paths[template]?.[method.toLowerCase()];
    if (operation === undefined || template === undefined) {
      if (mime === 'application/problem+json') validate('/components/schemas/Problem', body, what);
      return;
    }
    const key = operation.responses[status] === undefined ? 'default' : String(status);
    if (operation.responses[key]?.content[mime] === undefined)
      throw new Error(`${what} is ${mime}, which the OpenAPI document does not have`);
    if (!mime.endsWith('json')) return;
    const escaped = [template, method.toLowerCase(), 'responses', key, 'content', mime, 'schema'].map((one) =>
      encodeURIComponent(one.replaceAll('~', '~0').replaceAll('/', '~1')),
    );
    validate(`/paths/${escaped.join('/')}`, body, what);
  };
}

function templateOf(templates: readonly string[], path: string): string | undefined {
  return templates.find((template) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path));
}
