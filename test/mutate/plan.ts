/** One run of a test file, by `runner.ts`, in a process that goes on to the next. */
export interface Run {
  readonly file: string
  /** None in a run that is to see which tests reach which mutants, and in one that shows that they still pass. */
  readonly mutant?: string
  /** The source to be read anew, since the mutant is reached while it is imported. */
  readonly reload?: string
  /** The tests to be run; all when it is not set. */
  readonly tests?: readonly string[]
  /** How often the mutant may be reached before it is taken for a loop without end. */
  readonly hits?: number
  /** Milliseconds for each test; without it, what the test file says. */
  readonly limits?: Readonly<Record<string, number>>
}

export interface Plan {
  readonly runs: readonly Run[]
  /** Where the runner writes a line of JSON for each `Line`. */
  readonly out: string
  /** The files with mutants. */
  readonly sources: readonly string[]
}

export type Line =
  | { readonly pid: number }
  | { readonly began: number }
  | ({ readonly ended: number } & Outcome)
  /** The process is not what it was, and the rest of the plan is for another one. */
  | { readonly over: number }

export interface Outcome {
  /** The test that failed, or the file where a hook did or what it imports. */
  readonly killedBy?: string
  readonly timedOut?: boolean
  readonly ms: number
  /** Of a run without a mutant. */
  readonly seen?: Seen
}

export interface Seen {
  readonly tests: readonly SeenTest[]
  /** How often each mutant was reached by imports, and by hooks of the file. */
  readonly imports: Hits
  readonly hooks: Hits
  /** Those of the sources that the file imports, also through others. */
  readonly sources: readonly string[]
}

export interface SeenTest {
  readonly id: string
  readonly name: string
  readonly ms: number
  readonly failed: boolean
  readonly hits: Hits
}

export type Hits = Readonly<Record<string, number>>
