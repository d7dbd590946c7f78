import { SupervisedWorker } from '../../workers/supervised-worker.ts'
import { WorkerLost } from '../../workers/supervision.ts'
import type { JsonObject } from '../canonical/forms.ts'
import type { Awaitable } from '../work/continue-with.ts'
import { isSlow, type SchemaCheckOptions, schemaCheck, unusable } from './schema-check.ts'

/** A schema that the thread is to read, and a value that it is to hold to it, if there is one. */
export interface SchemaTask {
  /** As JSON: most questions are about a schema that the thread knows by its text. */
  readonly schema: string
  readonly coerce: boolean
  readonly given: { readonly value: unknown } | undefined
}

/** What is wrong with the value, which is sent back where it may have changed; or why the schema cannot be used. */
export type SchemaAnswer =
  | { readonly problems: readonly string[]; readonly value: unknown }
  | { readonly unusable: string }

/** The methods of the thread. */
export type SchemaMethods = { answer(task: SchemaTask): SchemaAnswer }

/** What came of a value. */
interface Checked {
  /** One line each; none for a value that matches. */
  readonly problems: readonly string[]
  /** The value itself, or with `coerce` a copy as the schema asks for it. */
  readonly value: unknown
}

/** A schema that was read and can be used. */
export interface HeldSchema {
  /** Whether a thread of its own holds values to it, so that answers are promises. */
  readonly isAside: boolean
  /** Throws or rejects with a bad request for a value that takes too long. */
  check(value: unknown): Awaitable<Checked>
}

const startMs = 30_000
/** Without schemas, until its memory is given back. */
const idleMs = 60_000
/** Code for a schema of 256 KB takes a fifth of it. */
const heapMb = 512

/**
 * Reads schemas of strangers. One of which the reading or the checks may take long is read in a thread of its own, where other calls do
 * not wait for it; the thread is there while it has such schemas. One question is answered at a time, so that one that the thread does
 * not come through is known.
 */
export class Schemas {
  readonly #worker = new SupervisedWorker<SchemaMethods>({
    entry: ['./schema-worker', import.meta.url],
    name: 'JSON Schemas',
    execArgv: [],
    limits: { startMs, idleMs, heapMb },
    methods: {},
  })
  #turn: Promise<unknown> = Promise.resolve()

  /** As `schemaCheck`; throws or rejects with a bad request when the schema itself is wrong. */
  read(schema: JsonObject, options: SchemaCheckOptions = {}): Awaitable<HeldSchema> {
    const { coerce = false } = options
    if (isSlow(schema)) return this.#readAside(schema, options)
    const check = schemaCheck(schema, options)
    return {
      isAside: false,
      check(given) {
        const value = coerce ? structuredClone(given) : given
        return { problems: check(value), value }
      },
    }
  }

  close(): Promise<void> {
    return this.#worker.close(async () => {}, 0)
  }

  async #readAside(
    schema: JsonObject,
    { coerce = false, param = 'schema' }: SchemaCheckOptions,
  ): Promise<HeldSchema> {
    const text = JSON.stringify(schema)
    const ask = async (given: SchemaTask['given']): Promise<Checked> => {
      const answer = await this.#ask({ schema: text, coerce, given })
      if ('unusable' in answer) throw unusable(answer.unusable, param)
      return { problems: answer.problems, value: coerce ? answer.value : given?.value }
    }
    await ask(undefined)
    return { isAside: true, check: (value) => ask({ value }) }
  }

  #ask(task: SchemaTask): Promise<SchemaAnswer> {
    const answer = this.#turn.then(async (): Promise<SchemaAnswer> => {
      await this.#worker.start()
      try {
        return await this.#worker.call('answer', task)
      } catch (error) {
        if (error instanceof WorkerLost)
          return { unusable: `the thread that reads it was lost: ${error.reason}` }
        throw error
      }
    })
    this.#turn = answer.catch(() => {})
    return answer
  }
}
