import type { BlockHeader } from './block.ts'
import type { BlockRewriter } from './block-rewriter.ts'
import type { LogAppender } from './log-appender.ts'
import type { LogBlocks } from './log-blocks.ts'
import { orphansOf } from './orphans.ts'

/** What the index of a block must have. */
export interface Needs {
  readonly fields: readonly string[]
  readonly numbers: readonly string[]
}

/** Sees to it that blocks which were written before a field or a number was there are indexed for it. */
export class Upkeep<T> {
  readonly #blocks: LogBlocks<T>
  readonly #appender: LogAppender<T>
  readonly #rewriter: BlockRewriter<T>
  /** Blocks that have rows and no index, once they were looked for. */
  #orphans: number[] | undefined

  constructor(blocks: LogBlocks<T>, appender: LogAppender<T>, rewriter: BlockRewriter<T>) {
    this.#blocks = blocks
    this.#appender = appender
    this.#rewriter = rewriter
  }

  /** Whether every block has what is needed. The state must be loaded. */
  has(needs: Needs): boolean {
    return !this.#blocks.state.sealed.some((header) => lacks(header, needs))
  }

  /** Indexes one block that lacks something, or has no index at all; false when there was none. Others write before and after it. */
  next(needs: Needs = this.#blocks): Promise<boolean> {
    return this.#blocks.exclusive(async () => {
      await this.#appender.load()
      const header = this.#blocks.state.sealed.find((one) => lacks(one, needs))
      if (header) {
        await this.#rewriter.reindex(header.block)
        return true
      }
      this.#orphans ??= await this.#findOrphans()
      const orphan = this.#orphans.pop()
      if (orphan !== undefined) await this.#rewriter.adopt(orphan)
      return orphan !== undefined
    })
  }

  #findOrphans(): Promise<number[]> {
    const { backing, keys, format, state } = this.#blocks
    const indexed = new Set(state.sealed.map(({ block }) => block))
    return orphansOf(backing.database, keys, { format, next: state.next, indexed })
  }
}

const lacks = ({ fields, numbers = [] }: BlockHeader, needs: Needs): boolean =>
  !needs.fields.every((field) => fields.includes(field)) ||
  !needs.numbers.every((name) => numbers.includes(name))
