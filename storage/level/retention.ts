import type { ErasingOptions } from '../log.ts'
import type { BlockHeader } from './block.ts'
import type { BlockRewriter } from './block-rewriter.ts'
import type { LogBlocks } from './log-blocks.ts'

const blocksPerCommit = 8

/** Says of each of some rows whether it matches. */
export type Match<T> = (rows: readonly T[]) => readonly boolean[] | Promise<readonly boolean[]>

/** Deletes rows and bodies, a few blocks at a time, so that appending goes on in between. */
export class Retention<T> {
  readonly #blocks: LogBlocks<T>
  readonly #rewriter: BlockRewriter<T>

  constructor(blocks: LogBlocks<T>, rewriter: BlockRewriter<T>) {
    this.#blocks = blocks
    this.#rewriter = rewriter
  }

  async prune(beforeMs: number): Promise<number> {
    let removed = 0
    for (;;) {
      const dropped = await this.#blocks.exclusive(async () => {
        const old = this.#blocks.state.sealed
          .filter(({ maxTime }) => maxTime < beforeMs)
          .slice(0, blocksPerCommit)
        if (old.length > 0) await this.#rewriter.drop(old)
        return old
      })
      if (dropped.length === 0) break
      removed += dropped.reduce((sum, { rows }) => sum + rows, 0)
    }
    const isOld = ({ minTime }: BlockHeader) => minTime < beforeMs
    return removed + (await this.#eachBlock(isOld, (block) => this.#rewriter.removeOlder(block, beforeMs)))
  }

  async pruneBodies(beforeMs: number): Promise<number> {
    const has = ({ bodies, minTime }: BlockHeader) => bodies > 0 && minTime < beforeMs
    let removed = 0
    for (const block of this.#numbers(has)) {
      removed += await this.#blocks.exclusive(() => this.#rewriter.stripBodies(block, beforeMs))
    }
    return removed
  }

  erase(
    match: Match<T>,
    { from = -Infinity, to = Infinity, bodiesOnly }: ErasingOptions = {},
  ): Promise<number> {
    const concerned = ({ minTime, maxTime, bodies }: BlockHeader): boolean =>
      maxTime >= from && minTime < to && !(bodiesOnly && bodies === 0)
    const range = { from, to }
    return this.#eachBlock(concerned, (block) =>
      bodiesOnly
        ? this.#rewriter.stripMatching(block, match, range)
        : this.#rewriter.removeMatching(block, match, range),
    )
  }

  async #eachBlock(
    concerned: (header: BlockHeader) => boolean,
    remove: (block: number) => Promise<number>,
  ): Promise<number> {
    let removed = 0
    for (const block of this.#numbers(concerned)) {
      removed += await this.#blocks.exclusive(() => remove(block))
    }
    return removed
  }

  /** The blocks concerned, and the open one. */
  #numbers(concerned: (header: BlockHeader) => boolean): number[] {
    const open = this.#blocks.openFirst / this.#blocks.format.blockRows
    return [...this.#blocks.state.sealed.filter(concerned).map(({ block }) => block), open]
  }
}
