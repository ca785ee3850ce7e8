/** One figure, as it is reported. */
export function row(what: string, value: number, unit: string): void {
  process.stdout.write(`${what.padEnd(60)} ${value.toFixed(1).padStart(9)} ${unit}\n`);
}
