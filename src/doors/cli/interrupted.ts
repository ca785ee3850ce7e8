/** The person pressed Ctrl-C while something was asked: nothing has begun. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
