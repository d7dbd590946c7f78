import type { StoreProblem } from '../index.ts'
import type { Gate } from './gate.ts'
import type { Database, GroupCommit } from './group-commit.ts'

/** The surroundings of every part of an engine. */
export interface Backing {
  readonly database: Database
  readonly writer: GroupCommit
  readonly gate: Gate
  readonly report: (problem: StoreProblem) => void
}

export type Snapshot = ReturnType<Database['snapshot']>
