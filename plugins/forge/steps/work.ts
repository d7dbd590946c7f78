import type { Context } from '#kernel'
import type { CallBudget } from '#kit'
import type { RunRow } from '../runs/rows.ts'
import type { Tools as Toolbox } from '../tools/tools.ts'
import { holds } from '../workflows/condition.ts'
import type { Whole } from '../workflows/definition.ts'
import type { Part, Step } from '../workflows/step.ts'
import { filled, parsed, type Scope, type Value, valued } from '../workflows/value.ts'
import type { Usage } from './ask.ts'
import { httpRequestOf, runHttp } from './http.ts'
import { judgeRequest, runJudge } from './judge.ts'
import { requestOf, runLlm } from './llm.ts'

/** A step that others are not a part of, and that no person decides. */
export type Leaf = Exclude<Step | Part, { type: 'map' | 'parallel' | 'workflow' | 'human' }>

/** What steps work with. */
export interface Tools extends Pick<Context<unknown>, 'call' | 'fetch'> {
  readonly run: RunRow
  readonly budget: CallBudget
  readonly toolbox: Toolbox
  /** Bytes of an answer of a service, and of JSON of one value. */
  readonly mostBytes: number
}

/** Where a step is made. */
export interface LeafPlace {
  readonly scope: Scope
  readonly whole: Whole
}

/** What a step is about to do: what it does it with, for the log, and doing it. */
export interface Work {
  readonly input?: unknown
  readonly run: (signal: AbortSignal) => Promise<Value>
}

/** The work of a step, with its tags filled. Throws a `StepFault` for tags that show nothing. */
export function workOf(leaf: Leaf, place: LeafPlace, tools: Tools, usage: Usage): Work {
  const { scope } = place
  const { mostBytes } = tools
  switch (leaf.type) {
    case 'llm': {
      const input = requestOf(leaf, scope)
      return { input, run: (signal) => runLlm({ ...tools, usage, signal }, leaf, input) }
    }
    case 'judge': {
      const input = judgeRequest(leaf, scope)
      return {
        input,
        run: (signal) =>
          runJudge({ ...tools, usage, signal }, leaf, input).then((verdict) => ({ ...verdict })),
      }
    }
    case 'http': {
      const request = httpRequestOf(leaf, scope, mostBytes)
      // Headers may hold credentials, and are not for the log.
      const { headers: _, ...input } = request
      return { input, run: (signal) => runHttp(tools.fetch, request, signal, mostBytes) }
    }
    case 'tool': {
      const { tool } = leaf.config
      const args = valued(leaf.config.arguments, scope, mostBytes)
      const id = place.whole.tools[tool]!
      return {
        input: { tool, arguments: args },
        run: (signal) => tools.toolbox.use(id, { args, run: tools.run }, signal),
      }
    }
    case 'transform': {
      const { config } = leaf
      return {
        run: async () =>
          'parse' in config ? parsed(filled(config.parse, scope)) : valued(config.value, scope, mostBytes),
      }
    }
    case 'condition':
      return { run: async () => holds(leaf.config.if, scope, mostBytes) }
  }
}
