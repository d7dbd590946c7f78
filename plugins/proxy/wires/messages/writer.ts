import { encodeEvent } from '#kit'
import { GrowingJson } from '../json.ts'
import { Waiting } from '../waiting.ts'
import type { Block } from './schema.ts'

/** A text that a block grows by: the kind of its deltas, and what they call it. */
export const growths = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
  input_json_delta: 'partial_json',
} as const

/** A piece of content: of which block it is, how that begins, and what it adds. */
export interface Piece {
  /** Pieces with the same lane are of one block. */
  readonly lane: string
  readonly block: Block
  /** The kind of text that it adds; a block without deltas is whole when it begins. */
  readonly kind: keyof typeof growths | undefined
  readonly text: string
}

interface OpenBlock {
  readonly lane: string
  readonly index: number
  readonly isTool: boolean
  readonly json: GrowingJson
}

/**
 * Writes blocks one after another, each begun once, gone on with and ended: no other order can come out. Other wires
 * may mix the parts of several tool calls; a part whose turn has not come waits until the call before it is complete.
 */
export class BlockWriter {
  #live: OpenBlock | undefined
  #next = 0
  readonly #waiting = new Waiting<Piece>()
  readonly #ended = new Set<string>()

  write(piece: Piece): string {
    if (this.#ended.has(piece.lane)) return ''
    if (this.#live?.lane === piece.lane) return this.#goOn(piece) + this.#release()
    if (!this.#waiting.isEmpty || !this.#complete()) {
      this.#waiting.add(piece)
      return ''
    }
    return this.#stop() + this.#start(piece) + this.#goOn(piece)
  }

  /** Ends everything that is open or waits. */
  end(): string {
    let text = this.#stop()
    while (!this.#waiting.isEmpty) text += this.#turn() + this.#stop()
    return text
  }

  /** Takes note of a block that others began. */
  adopt(index: number, lane: string, isTool: boolean): void {
    this.#live = { lane, index, isTool, json: new GrowingJson() }
    this.#next = index + 1
  }

  /** Takes note of what others added to the open block. */
  follow(json: string): void {
    if (this.#live) this.#live.json.add(json)
  }

  /** Takes note that others ended the open block. */
  leave(): void {
    if (this.#live?.isTool) this.#ended.add(this.#live.lane)
    this.#live = undefined
  }

  /** Lets pieces go on that waited for the open block, as far as they may. */
  #release(): string {
    let text = ''
    while (!this.#waiting.isEmpty && this.#complete()) text += this.#stop() + this.#turn()
    return text
  }

  /** Begins the block that has waited longest, with all of it that is there. */
  #turn(): string {
    const own = this.#waiting.take()
    return this.#start(own[0]) + own.map((piece) => this.#goOn(piece)).join('')
  }

  #complete(): boolean {
    return !this.#live?.isTool || this.#live.json.isComplete
  }

  #start({ lane, block }: Piece): string {
    const index = this.#next
    this.#next += 1
    this.#live = { lane, index, isTool: block.type === 'tool_use', json: new GrowingJson() }
    return event({ type: 'content_block_start', index, content_block: block })
  }

  #goOn({ kind, text }: Piece): string {
    if (kind === undefined) return ''
    const live = this.#live!
    if (kind === 'input_json_delta') live.json.add(text)
    return deltaEvent(live.index, kind, text)
  }

  #stop(): string {
    if (!this.#live) return ''
    const { index } = this.#live
    this.leave()
    return event({ type: 'content_block_stop', index })
  }
}

export const event = (data: { readonly type: string; readonly [field: string]: unknown }): string =>
  encodeEvent(data, data.type)

/** The event that most of a stream are: only its text is serialised. */
const deltaEvent = (index: number, kind: keyof typeof growths, text: string): string =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${kind}","${growths[kind]}":${JSON.stringify(text)}}}\n\n`
