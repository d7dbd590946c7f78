import type { Delta } from '#kernel'
import { Assembler } from '#kit'
import { GrowingJson } from '../json.ts'
import { type Form, forms, type ItemKind, itemForms, type TextKind } from './form.ts'
import type { Fields, Item } from './schema.ts'
import { type State, sealed, stateOf } from './state.ts'

/** Where events go, to be numbered and written at once: what they hold goes on growing. */
export interface Events {
  emit(type: string, data: Fields): void
  /** An event that brings a piece of a text. */
  grow(growing: Growing, text: string, logprobs: readonly unknown[] | undefined): void
}

/** What events that bring pieces of one text have in common, as text: before their number, and between it and the piece. */
export interface Growing {
  readonly before: string
  readonly between: string
}

const growingOf = (type: string, at: Fields): Growing => ({
  before: `event: ${type}\ndata: {"type":"${type}","sequence_number":`,
  between: `,${JSON.stringify(at).slice(1, -1)},"delta":`,
})

/** A piece of an item: of which, how that begins, and what it adds. */
export interface Piece {
  /** Pieces with the same lane are of one item. */
  readonly lane: string
  readonly kind: ItemKind
  /** The fields of a call. */
  readonly about?: Fields
  /** Which text it adds to; pieces with another key begin another part. */
  readonly of?: { readonly kind: TextKind; readonly key?: string }
  readonly text?: string
  readonly logprobs?: readonly unknown[]
  readonly annotations?: readonly unknown[]
  readonly state?: State
  /** The last piece of its item, with the fields that are known only now. */
  readonly last?: Fields
}

type Status = 'in_progress' | 'completed' | 'incomplete'

interface OpenText {
  readonly form: Form
  readonly key: string
  readonly at: Fields
  /** Most events of a stream bring a piece of it. */
  readonly growing: Growing
  /** Holds the text that grows: the part, or the item itself. */
  readonly holder: Record<string, unknown>
}

/** An item while it is written: begun once, its parts one after another, ended once. */
export class OpenItem {
  readonly lane: string
  readonly #events: Events
  readonly #index: number
  readonly #item: Record<string, unknown> & { readonly id: string; readonly type: ItemKind }
  #text: OpenText | undefined
  #state: Assembler | undefined
  readonly #arguments = new GrowingJson()
  #ended = false
  readonly #calls: Record<string, Fields> = {}

  constructor(events: Events, index: number, id: string, { lane, kind, about }: Piece) {
    this.lane = lane
    this.#events = events
    this.#index = index
    this.#item = {
      id: `${itemForms[kind].prefix}_${id}`,
      type: kind,
      status: 'in_progress',
      ...itemForms[kind].blank(),
      ...about,
    }
    this.#events.emit('response.output_item.added', { output_index: index, item: this.#item })
  }

  /** The item as it is now; it still grows. */
  get item(): Item {
    return this.#item
  }

  /** Whether nothing is missing for it to end: a call's arguments may still be on their way. */
  get complete(): boolean {
    if (this.#ended || !('call_id' in this.#item)) return true
    return this.#item.type === 'function_call' && this.#arguments.isComplete
  }

  add({ of, text = '', logprobs = none, annotations = none, state, last }: Piece): void {
    if (last) {
      Object.assign(this.#item, last)
      this.#ended = true
    }
    if (state?.message) {
      this.#state ??= new Assembler()
      this.#state.add({ choices: [{ index: 0, delta: state.message as Delta }] })
    }
    if (state?.calls) Object.assign(this.#calls, state.calls)
    if (!of) return
    const { form, holder, at, growing } = this.#textOf(of.kind, of.key ?? of.kind)
    if (of.kind === 'text') {
      if (logprobs.length > 0) (holder.logprobs as unknown[]).push(...logprobs)
      for (const annotation of annotations) this.#annotate(holder.annotations as unknown[], annotation, at)
    }
    if (text === '') return
    if (of.kind === 'arguments') this.#arguments.add(text)
    holder[form.field] = `${holder[form.field]}${text}`
    this.#events.grow(growing, text, of.kind === 'text' ? logprobs : undefined)
  }

  /** Ends the item and all of it, and gives it. */
  close(status: Status): Item {
    this.#endText()
    if (this.#item.type === 'reasoning') this.#item.encrypted_content = this.#sealed()
    this.#item.status = status
    this.#events.emit('response.output_item.done', { output_index: this.#index, item: this.#item })
    return this.#item
  }

  #textOf(kind: TextKind, key: string): OpenText {
    if (this.#text?.key === key) return this.#text
    this.#endText()
    const form = forms[kind]
    const at: Record<string, unknown> = { item_id: this.#item.id, output_index: this.#index }
    let holder: Record<string, unknown> = this.#item
    if (form.list) {
      const list = this.#item[form.list] as Record<string, unknown>[]
      at[form.index!] = list.length
      holder = form.blank!()
      list.push(holder)
      this.#events.emit(`${form.part}.added`, { ...at, part: holder })
    }
    this.#text = { form, key, at, growing: growingOf(`${form.text}.delta`, at), holder }
    return this.#text
  }

  #endText(): void {
    if (!this.#text) return
    const { form, at, holder } = this.#text
    const { logprobs, name } = holder
    this.#events.emit(`${form.text}.done`, {
      ...at,
      [form.field]: holder[form.field],
      ...(logprobs !== undefined && { logprobs }),
      ...(form.field === 'arguments' && { name }),
    })
    if (form.part) this.#events.emit(`${form.part}.done`, { ...at, part: holder })
    this.#text = undefined
  }

  #annotate(annotations: unknown[], annotation: unknown, at: Fields): void {
    const place = { ...at, annotation_index: annotations.length }
    annotations.push(annotation)
    this.#events.emit('response.output_text.annotation.added', { ...place, annotation })
  }

  #sealed(): string | null {
    const message = stateOf(this.#state?.completion().choices?.[0]?.message)
    const hasCalls = Object.keys(this.#calls).length > 0
    if (Object.keys(message).length === 0 && !hasCalls) return null
    return sealed({ message, ...(hasCalls && { calls: this.#calls }) })
  }
}

const none: readonly unknown[] = []
