/** An input as the query of an address, with its `?`: lists by repeating the field; reads take no records. */
export function queryOf(input: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(input))
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value])
      if (one !== undefined) search.append(name, typeof one === 'string' ? one : JSON.stringify(one));
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}
