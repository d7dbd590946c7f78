import { type BlockHeader, type Change, decodeNumbers, sealBlock } from './block.ts'
import { apart, type Chunk, encodeBodies, encodeLines } from './chunk.ts'
import type { LogAppender } from './log-appender.ts'
import type { LogBlocks } from './log-blocks.ts'
import type { Match } from './retention.ts'

/** A range of times, in milliseconds: `from` is in it and `to` is not. */
interface TimeRange {
  readonly from: number
  readonly to: number
}

/** Changes blocks that are written already. Each method is one atomic batch and must run exclusively. */
export class BlockRewriter<T> {
  readonly #blocks: LogBlocks<T>
  readonly #appender: LogAppender<T>

  constructor(blocks: LogBlocks<T>, appender: LogAppender<T>) {
    this.#blocks = blocks
    this.#appender = appender
  }

  /** Deletes whole blocks with everything in them. */
  async drop(headers: readonly BlockHeader[]): Promise<void> {
    const changes: Change[] = []
    for (const header of headers) changes.push(...(await this.#deletions(header)))
    await this.#commitSealed(changes, (all) => all.filter((header) => !headers.includes(header)))
  }

  /** Deletes the rows of a block that match, and their bodies; returns how many. */
  async removeMatching(block: number, match: Match<T>, range: TimeRange): Promise<number> {
    const { first, end } = this.#extent(block)
    const chunks = await this.#blocks.readChunks(first, end)
    return this.#remove(block, chunks, await this.#matching(block, chunks, match, range))
  }

  /** Deletes the bodies of the rows of a block that match; returns how many. */
  async stripMatching(block: number, match: Match<T>, range: TimeRange): Promise<number> {
    const { first, end } = this.#extent(block)
    const chunks = await this.#blocks.readChunks(first, end)
    return this.#strip(block, chunks, await this.#matching(block, chunks, match, range))
  }

  /** The places of the rows of a block that match, among those of a range of time. */
  async #matching(
    block: number,
    chunks: readonly Chunk[],
    match: Match<T>,
    { from, to }: TimeRange,
  ): Promise<number[]> {
    const { first, end } = this.#extent(block)
    const times = await this.#timesOf(block)
    const isMeant = ({ at }: { readonly at: number }): boolean => times[at]! >= from && times[at]! < to
    const found: number[] = []
    for await (const some of this.#blocks.rowsOf(chunks, first, end)) {
      const meant = some.filter(isMeant)
      const matches = meant.length > 0 ? await match(meant.map(({ row }) => row)) : []
      for (const [n, { at }] of meant.entries()) if (matches[n]) found.push(at)
    }
    return found
  }

  /** Deletes the rows of a block that are older, and their bodies; returns how many. */
  async removeOlder(block: number, beforeMs: number): Promise<number> {
    const { first, end } = this.#extent(block)
    const times = await this.#timesOf(block)
    const emptied = Array.from({ length: end - first }, (_, at) => at).filter((at) => times[at]! < beforeMs)
    return this.#remove(block, await this.#blocks.readChunks(first, end), emptied)
  }

  /** Deletes rows of a block by their places in it, and their bodies; returns how many. */
  async #remove(block: number, chunks: readonly Chunk[], emptied: readonly number[]): Promise<number> {
    if (emptied.length === 0) return 0
    const { first, end, header } = this.#extent(block)
    const { chunkRows } = this.#blocks.format
    for (const at of emptied) chunks[Math.floor(at / chunkRows)]!.lines[at % chunkRows] = ''
    const changes = this.#clearBodies(chunks, first, emptied)
    const index = await this.#blocks.indexChunks(chunks, first, end)
    if (!header) {
      await this.#blocks.commit(changes, { ...this.#blocks.state, open: index }, true)
      await this.#appender.reloadChunk()
    } else if (index.times.every(Number.isNaN)) {
      await this.drop([header])
    } else {
      const [sealed, indexed] = sealBlock(this.#blocks.keys, block, index)
      changes.push(...indexed, ...this.#unused(header, sealed))
      await this.#commitSealed(changes, (all) => all.map((one) => (one.block === block ? sealed : one)))
    }
    return emptied.length
  }

  /** Makes the index of a block again, for fields and numbers it does not have yet. */
  async reindex(block: number): Promise<void> {
    const { first, end, header } = this.#extent(block)
    if (!header) return
    const index = await this.#blocks.indexChunks(await this.#blocks.readChunks(first, end), first, end)
    const [sealed, changes] = sealBlock(this.#blocks.keys, block, index)
    changes.push(...this.#unused(header, sealed))
    await this.#commitSealed(changes, (all) => all.map((one) => (one.block === block ? sealed : one)))
  }

  /** Makes the index of a block that has none, as a repair may leave it; one that has no row left goes. */
  async adopt(block: number): Promise<void> {
    const first = block * this.#blocks.format.blockRows
    const end = first + this.#blocks.format.blockRows
    const chunks = await this.#blocks.readChunks(first, end)
    const index = await this.#blocks.indexChunks(chunks, first, end)
    const [sealed, changes] = sealBlock(this.#blocks.keys, block, index)
    if (chunks.every(({ lines }) => lines.every((line) => line === ''))) return this.drop([sealed])
    await this.#commitSealed(changes, (all) => [...all, sealed].sort((a, b) => a.block - b.block))
  }

  /** Deletes the bodies of the rows of a block that are older; returns how many. */
  async stripBodies(block: number, beforeMs: number): Promise<number> {
    const { first, end } = this.#extent(block)
    const times = await this.#timesOf(block)
    const old = Array.from({ length: end - first }, (_, at) => at).filter((at) => times[at]! < beforeMs)
    return this.#strip(block, await this.#blocks.readChunks(first, end), old)
  }

  /** Deletes the bodies of rows of a block by their places in it; returns how many there were. */
  async #strip(block: number, chunks: readonly Chunk[], places: readonly number[]): Promise<number> {
    const { first, header } = this.#extent(block)
    const { chunkRows } = this.#blocks.format
    const stripped = places.filter(
      (at) => chunks[Math.floor(at / chunkRows)]?.bodies[at % chunkRows] !== undefined,
    )
    if (stripped.length === 0) return 0
    const changes = this.#clearBodies(chunks, first, stripped)
    if (header) {
      const changed = { ...header, bodies: header.bodies - stripped.length }
      changes.push([this.#blocks.keys.header(block), JSON.stringify(changed)])
      await this.#commitSealed(changes, (all) => all.map((one) => (one.block === block ? changed : one)))
    } else {
      this.#blocks.state.open.bodies -= stripped.length
      await this.#blocks.commit(changes, this.#blocks.state, true)
      await this.#appender.reloadChunk()
    }
    return stripped.length
  }

  /** The rows of a block; without a header it is the open one. */
  #extent(block: number): { first: number; end: number; header: BlockHeader | undefined } {
    const { format, state } = this.#blocks
    const first = block * format.blockRows
    const header = state.sealed.find((one) => one.block === block)
    const isOpen = first === this.#blocks.openFirst
    return { first, end: header ? first + format.blockRows : isOpen ? state.next : first, header }
  }

  /** Empties the slots of these rows, and gives the changes of the chunks concerned, lines included. */
  #clearBodies(chunks: readonly Chunk[], first: number, rows: readonly number[]): Change[] {
    const { keys, format } = this.#blocks
    const changes: Change[] = []
    const touched = new Set<number>()
    for (const at of rows) {
      const chunk = Math.floor(at / format.chunkRows)
      const { bodies } = chunks[chunk]!
      if (bodies[at % format.chunkRows] === apart) changes.push([keys.largeBody(first + at), undefined])
      bodies[at % format.chunkRows] = undefined
      touched.add(chunk)
    }
    for (const chunk of touched) {
      const number = first / format.chunkRows + chunk
      changes.push([keys.rows(number), encodeLines(chunks[chunk]!.lines)])
      changes.push([keys.bodies(number), encodeBodies(chunks[chunk]!.bodies)])
    }
    return changes
  }

  async #deletions({ block, fields, numbers = [] }: BlockHeader): Promise<Change[]> {
    const { keys, format, backing } = this.#blocks
    const first = block * format.blockRows
    const end = first + format.blockRows
    const chunks = this.#blocks.chunkNumbers(first, end)
    const large = await backing.database.keys(keys.largeBodiesRange(first, end)).all()
    const gone = [
      keys.header(block),
      keys.ids(block),
      keys.times(block),
      ...fields.map((field) => keys.posting(block, field)),
      ...numbers.map((name) => keys.numbers(block, name)),
      ...chunks.flatMap((chunk) => [keys.rows(chunk), keys.bodies(chunk)]),
      ...large,
    ]
    return gone.map((key) => [key, undefined])
  }

  /** Deletions of what the index of a block has no more. */
  #unused({ block, fields, numbers = [] }: BlockHeader, after: BlockHeader): Change[] {
    const { keys } = this.#blocks
    const unused = [
      ...fields.filter((field) => !after.fields.includes(field)).map((field) => keys.posting(block, field)),
      ...numbers.filter((name) => !after.numbers?.includes(name)).map((name) => keys.numbers(block, name)),
    ]
    return unused.map((key) => [key, undefined])
  }

  /** The times of the rows of a block; NaN for those that are deleted. */
  async #timesOf(block: number): Promise<ArrayLike<number>> {
    if (!this.#extent(block).header) return this.#blocks.state.open.times
    const options = { valueEncoding: 'view' } as const
    const stored = await this.#blocks.backing.database.get<string, Uint8Array>(
      this.#blocks.keys.times(block),
      options,
    )
    return stored ? decodeNumbers(stored) : []
  }

  #commitSealed(
    changes: readonly Change[],
    change: (sealed: readonly BlockHeader[]) => readonly BlockHeader[],
  ): Promise<void> {
    const { state } = this.#blocks
    return this.#blocks.commit(changes, { ...state, sealed: change(state.sealed) }, true)
  }
}
