import type { IndexValue, LogOptions } from '../index.ts'
import { listOf } from './keys.ts'
import type { LogKeys } from './log-keys.ts'
import { encodePostings, type PostingMap } from './postings.ts'

export type Change = readonly [key: string, value: string | Uint8Array | undefined]

/** The part that stays in memory of a block whose index is on disk. */
export interface BlockHeader {
  readonly block: number
  readonly rows: number
  readonly bodies: number
  readonly minId: string
  readonly maxId: string
  readonly minTime: number
  readonly maxTime: number
  /** The fields it has postings for. */
  readonly fields: readonly string[]
  /** The numbers it has; absent in blocks that were written before there were any. */
  readonly numbers?: readonly string[]
}

/** What an index takes from a row. */
export interface RowFacts {
  readonly id: string
  readonly time: number
  /** In the order of the options' fields. */
  readonly values: readonly (IndexValue | readonly IndexValue[])[]
  /** In the order of the options' numbers; NaN where a row has none. */
  readonly numbers: readonly number[]
}

/** Throws when one of the functions does, or when the row has no time. */
export function factsOf<T>(options: LogOptions<T>, row: T): RowFacts {
  const id = options.id(row)
  const time = options.time(row)
  if (typeof id !== 'string' || id === '' || !Number.isFinite(time))
    throw new TypeError('A log row needs an id and a time.')
  const values = []
  for (const field in options.fields) values.push(options.fields[field]?.(row))
  const numbers = []
  for (const name in options.numbers) numbers.push(options.numbers[name]?.(row) ?? Number.NaN)
  return { id, time, values, numbers }
}

/** The index of the rows of one block, in memory. It only grows; a deleted row has no id and NaN for its time. */
export class BlockIndex {
  readonly ids: string[] = []
  readonly times: number[] = []
  readonly postings: ReadonlyMap<string, PostingMap>
  /** How many of the rows have a body. */
  bodies = 0
  readonly numbers: ReadonlyMap<string, readonly number[]>
  readonly #maps: readonly PostingMap[]
  readonly #columns: readonly number[][]

  constructor({ fields = {}, numbers = {} }: Pick<LogOptions<never>, 'fields' | 'numbers'> = {}) {
    this.#maps = Object.keys(fields).map(() => new Map())
    this.#columns = Object.keys(numbers).map(() => [])
    this.postings = new Map(Object.keys(fields).map((field, at) => [field, this.#maps[at]!]))
    this.numbers = new Map(Object.keys(numbers).map((name, at) => [name, this.#columns[at]!]))
  }

  add(facts: RowFacts, hasBody: boolean): void {
    const row = this.ids.length
    if (hasBody) this.bodies++
    this.ids.push(facts.id)
    this.times.push(facts.time)
    for (let at = 0; at < this.#maps.length; at++) {
      const values = facts.values[at]
      if (typeof values === 'object') {
        for (const value of new Set(listOf(values))) put(this.#maps[at]!, value, row)
      } else {
        put(this.#maps[at]!, values, row)
      }
    }
    for (let at = 0; at < this.#columns.length; at++) this.#columns[at]!.push(facts.numbers[at]!)
  }

  /** Leaves out a row that is deleted or cannot be read. */
  skip(): void {
    this.ids.push('')
    this.times.push(Number.NaN)
    for (const column of this.#columns) column.push(Number.NaN)
  }
}

function put(postings: PostingMap, value: IndexValue, row: number): void {
  if (value === undefined || Number.isNaN(value)) return
  const list = postings.get(value)
  if (list) list.push(row)
  else postings.set(value, [row])
}

/** The index as it goes to disk, and the header that stays in memory. */
export function sealBlock(keys: LogKeys, block: number, index: BlockIndex): [BlockHeader, Change[]] {
  const changes: Change[] = [
    [keys.ids(block), encodeIds(index.ids)],
    [keys.times(block), encodeNumbers(index.times)],
  ]
  for (const [name, column] of index.numbers) changes.push([keys.numbers(block, name), encodeNumbers(column)])
  for (const [field, postings] of index.postings)
    changes.push([keys.posting(block, field), encodePostings(postings)])
  const header = headerOf(block, index)
  changes.push([keys.header(block), JSON.stringify(header)])
  return [header, changes]
}

function headerOf(block: number, index: BlockIndex): BlockHeader {
  let rows = 0
  let minId = ''
  let maxId = ''
  let minTime = Number.MAX_VALUE
  let maxTime = -Number.MAX_VALUE
  for (const [at, time] of index.times.entries()) {
    if (Number.isNaN(time)) continue
    const id = index.ids[at]!
    if (rows === 0 || id < minId) minId = id
    if (rows === 0 || id > maxId) maxId = id
    if (time < minTime) minTime = time
    if (time > maxTime) maxTime = time
    rows++
  }
  const { bodies } = index
  const fields = [...index.postings.keys()]
  return { block, rows, bodies, minId, maxId, minTime, maxTime, fields, numbers: [...index.numbers.keys()] }
}

function encodeIds(ids: readonly string[]): string {
  return `\n${ids.map((id) => (id === '' ? '' : JSON.stringify(id))).join('\n')}\n`
}

/** The row of the newest such id in a block, from what `sealBlock` stored; -1 when there is none. */
export function findId(stored: string, id: string): number {
  const found = stored.lastIndexOf(`\n${JSON.stringify(id)}\n`)
  if (found < 0) return -1
  let row = 0
  for (let at = stored.indexOf('\n'); at < found; at = stored.indexOf('\n', at + 1)) row++
  return row
}

function encodeNumbers(numbers: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(numbers.length * 8))
  for (const [at, number] of numbers.entries()) view.setFloat64(at * 8, number, true)
  return new Uint8Array(view.buffer)
}

/** Times, or the numbers of one name, as `sealBlock` stored them: one for each row. */
export function decodeNumbers(stored: Uint8Array): Float64Array {
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength)
  const numbers = new Float64Array(stored.byteLength / 8)
  for (let at = 0; at < numbers.length; at++) numbers[at] = view.getFloat64(at * 8, true)
  return numbers
}
