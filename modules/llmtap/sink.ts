/** The length of a file when its lines were last accounted for, and which file that was. */
export interface Mark {
  readonly inode: number
  readonly bytes: number
}

/** Where records are written, one call of `write` after the other. */
export interface Sink {
  /** What must be remembered of the sink together with the lines that it has taken. */
  readonly mark?: Mark | undefined
  /** Called before the first write, with the mark that was remembered last. */
  open?(mark: Mark | undefined): Promise<void>
  /** Resolves when the lines, each with its end, are taken. Rejects with a `SinkFailure`, or with what may pass. */
  write(lines: readonly string[]): Promise<void>
  /** How many of a user's lines it still has, and their deletion; absent where lines are out of reach. */
  countOf?(userId: string): Promise<number>
  eraseOf?(userId: string): Promise<number>
}

/** The receiver will never take these lines. */
export class SinkFailure extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SinkFailure'
  }
}
