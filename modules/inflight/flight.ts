import { type Call, Cancel, isGatewayError, type Next, type Reply, StreamReply, WholeReply } from '#kernel'
import { collect, detach, replyWith } from '#kit'
import { type Reading, SharedStream } from './shared-stream.ts'

/** The answer as it is shared. */
type Shared = { readonly reply: WholeReply } | { readonly stream: SharedStream; readonly wire: string }

/** One of the calls that want the answer. */
interface Member {
  reading: Reading | undefined
  /** Rejects with the reason when its call is over. */
  readonly left: Promise<never>
}

/**
 * One call to the provider, for several calls that ask the same. The first makes it and pays for it, so it is over only when the
 * provider's answer is: its client may leave before. A limit that ends the first call ends the provider's answer; so does
 * the last one who leaves.
 */
export class Flight {
  /** The call that makes it. */
  readonly first: Call
  readonly #maxBytes: number
  readonly #landed: () => void
  readonly #cancel = new Cancel()
  readonly #members = new Set<Member>()
  readonly #answered = Promise.withResolvers<Shared>()
  #stream: SharedStream | undefined
  #isOver = false

  /** `landed` is called once, when no answer can come any more or all of it has come. */
  constructor(first: Call, maxBytes: number, landed: () => void) {
    this.first = first
    this.#maxBytes = maxBytes
    this.#landed = landed
    // It may be that nobody waits.
    this.#answered.promise.catch(() => {})
  }

  /** Whether another call can have all of its answer. */
  get isOpen(): boolean {
    return !this.#isOver && !this.isEnded && this.#stream?.isOpen !== false
  }

  /** Whether it was ended before its time. */
  get isEnded(): boolean {
    return this.#cancel.aborted
  }

  /** Makes the call to the provider, for the first. */
  async lead(next: Next): Promise<Reply> {
    const { first } = this
    const member = this.#enter(first, (reason) => this.#isOver || isGatewayError(reason))
    try {
      const reply = await next(first.with({ cancel: this.#cancel }))
      if (reply.kind === 'stream') return reply.through(this.#share(reply, member))
      this.#answered.resolve({ reply })
      this.#land()
      first.cancel.check()
      return reply
    } catch (error) {
      this.#answered.reject(error)
      this.#land()
      throw error
    }
  }

  /** The answer for a further call; rejects with the failure of the first. */
  async join(call: Call): Promise<Reply> {
    const member = this.#enter(call, () => false)
    const shared = await Promise.race([this.#answered.promise, member.left])
    if ('reply' in shared) return replyWith(call, shared.reply.body)
    member.reading ??= shared.stream.read(false)
    const reply = new StreamReply(shared.wire, member.reading.chunks)
    return call.stream ? reply : WholeReply.of(await collect(reply))
  }

  /** Takes part until the call is over. It `endsAll` if its reason is one for the whole flight. */
  #enter({ cancel }: Call, endsAll: (reason: Error) => boolean): Member {
    const left = Promise.withResolvers<never>()
    left.promise.catch(() => {})
    const member: Member = { reading: undefined, left: left.promise }
    this.#members.add(member)
    cancel.onAbort((reason) => {
      left.reject(reason)
      this.#members.delete(member)
      if (endsAll(reason) || this.#members.size === 0) this.#cancel.abort(reason)
      member.reading?.leave(reason)
    })
    return member
  }

  /** Begins to share a stream; returns it for the first. */
  #share({ chunks, wire }: StreamReply, member: Member): Reading['chunks'] {
    const stream = new SharedStream(chunks, this.#maxBytes)
    this.#stream = stream
    const reading = stream.read(true)
    member.reading = reading
    for (const other of this.#members) other.reading ??= stream.read(false)
    detach(
      'a shared call',
      stream.over.then(() => this.#land()),
    )
    if (this.first.cancel.reason) reading.leave(this.first.cancel.reason)
    this.#answered.resolve({ stream, wire })
    return reading.chunks
  }

  #land(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#landed()
    // What waits inside for the end of the call learns of it with the first.
    if (this.first.cancel.reason) this.#cancel.abort(this.first.cancel.reason)
  }
}
