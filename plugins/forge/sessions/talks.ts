import { type Context, type MadeCall, newId, type Outcome, Sealing } from '#kernel'
import { Listening, type MessageContent, SealedJson } from '#kit'
import { Usage } from '../steps/ask.ts'
import { type Said, type Sender, SessionCalls, saidIn } from './calls.ts'
import { Memory, sizeOf } from './memory.ts'
import type { MessageRow, SessionRow } from './rows.ts'
import { SessionStore, unknownSession } from './store.ts'
import { Turns } from './turns.ts'

const dayMs = 86_400_000

/** A message and its answer, as they are stored. */
export interface Exchanged {
  readonly user: MessageRow
  readonly assistant: MessageRow
}

/** What happens while an answer comes. */
export type Talk =
  | { readonly event: 'message'; readonly message: MessageRow }
  | { readonly event: 'delta'; readonly text: string }
  | { readonly event: 'done'; readonly exchanged: Exchanged }

/**
 * Sessions and what is said in them. Messages of one session are answered one after the other, in the first thread, which answers all
 * management requests.
 */
export class Talks {
  readonly store: SessionStore
  readonly json: SealedJson
  readonly #calls: SessionCalls
  readonly #turns = new Turns()
  readonly #ends = new Map<string, AbortController>()

  constructor(context: Context<unknown>) {
    this.store = new SessionStore(context)
    this.json = new SealedJson(context, () => context.use(Sealing))
    this.#calls = new SessionCalls(context, this.json, new Memory(this.store, this.json))
  }

  isBusy(id: string): boolean {
    return this.#turns.isBusy(id)
  }

  /** Deletes a session with its messages, and ends its call. */
  async delete(id: string): Promise<void> {
    await this.store.delete(id)
    this.#ends.get(id)?.abort(unknownSession(id))
  }

  async prune(days: number): Promise<void> {
    await this.store.prune(new Date(Date.now() - days * dayMs).toISOString())
  }

  /** Stores a message, asks the model and stores its answer. */
  async say(id: string, content: MessageContent, sender: Sender): Promise<Exchanged> {
    for await (const talk of this.talk(id, content, sender, false))
      if (talk.event === 'done') return talk.exchanged
    throw unknownSession(id)
  }

  /** The same as it happens. Who stops listening ends the call, and what was said by then is stored as a part. */
  async *talk(id: string, content: MessageContent, sender: Sender, stream: boolean): AsyncGenerator<Talk> {
    const release = await this.#turns.take(id, sender.signal)
    const ends = new AbortController()
    this.#ends.set(id, ends)
    const signal = AbortSignal.any([sender.signal, ends.signal])
    try {
      yield* this.#exchange(id, content, { ...sender, signal }, stream)
    } catch (error) {
      // A call that is ended fails as if its client had left; who waits for it is told why.
      ends.signal.throwIfAborted()
      throw error
    } finally {
      this.#ends.delete(id)
      release()
    }
  }

  async *#exchange(
    id: string,
    content: MessageContent,
    sender: Sender,
    stream: boolean,
  ): AsyncGenerator<Talk> {
    const session = await this.store.get(id)
    if (!session) throw unknownSession(id)
    const user = await this.store.ask(id, await this.#message(session, 'user', 'pending', content))
    const usage = new Usage()
    const listening = new Listening()
    let made: MadeCall | undefined
    let exchanged: Exchanged | undefined
    try {
      yield { event: 'message', message: user }
      const request = await this.#calls.request(session, content, sender, usage)
      made = this.#calls.make(session, { ...request, ...(stream && { stream }) }, sender)
      const reply = await made.reply
      if (reply.kind === 'stream')
        for await (const chunks of reply.chunks) {
          const text = listening.hear(chunks)
          if (text !== '') yield { event: 'delta', text }
        }
      const said = reply.kind === 'stream' ? saidIn(listening.completion) : saidIn(reply.body)
      exchanged = await this.#settle({ session, user, usage, made, said, status: 'complete' })
      if (!exchanged) throw unknownSession(id)
      yield { event: 'done', exchanged }
    } finally {
      const said = saidIn(listening.completion)
      const status = said.text === '' ? 'failed' : 'partial'
      if (!exchanged) await this.#settle({ session, user, usage, made, said, status })
    }
  }

  /** Stores the answer, or as much as came of it, or that there is none; undefined where the session or the answer is gone. */
  async #settle({ session, user, usage, made, said, status }: Settled): Promise<Exchanged | undefined> {
    const spent = sumOf(usage, await made?.outcome)
    if (status === 'failed') {
      await this.store.settle({ ...user, status, ...spent }, undefined)
      return undefined
    }
    const message = await this.#message(session, 'assistant', status, said.text)
    const answered: MessageRow = { ...user, status: 'complete' }
    const assistant = await this.store.settle(answered, {
      ...message,
      ...(said.model !== undefined && { model: said.model }),
      ...(said.finishReason !== undefined && { finish_reason: said.finishReason }),
      ...(made && { trace_id: made.id }),
      ...spent,
    })
    return assistant && { user: answered, assistant }
  }

  async #message(
    session: SessionRow,
    role: MessageRow['role'],
    status: MessageRow['status'],
    content: MessageContent,
  ): Promise<Omit<MessageRow, 'seq'>> {
    return {
      id: newId('msg_'),
      session: session.id,
      role,
      status,
      content: await this.json.write(session, content),
      size: sizeOf(content),
      tokens_in: 0,
      tokens_out: 0,
      cost_nano: 0,
      created_at: new Date().toISOString(),
    }
  }
}

interface Settled {
  readonly session: SessionRow
  readonly user: MessageRow
  readonly usage: Usage
  readonly made: MadeCall | undefined
  readonly said: Said
  readonly status: 'complete' | 'partial' | 'failed'
}

/** What a message cost, with the summaries that were made for it. */
const sumOf = (
  { tokens_in, tokens_out, cost_nano }: Usage,
  outcome: Outcome | undefined,
): Pick<MessageRow, 'tokens_in' | 'tokens_out' | 'cost_nano'> => ({
  tokens_in: tokens_in + (outcome?.usage.input ?? 0),
  tokens_out: tokens_out + (outcome?.usage.output ?? 0),
  cost_nano: cost_nano + (outcome?.cost?.totalNano ?? 0),
})
