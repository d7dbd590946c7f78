import type { Completion, Context, MadeCall, Message, ModelRequest, Principal } from '#kernel'
import { answerText, collect, type MessageContent, type SealedJson, summarise } from '#kit'
import { modelNamed, type Usage } from '../steps/ask.ts'
import type { Memory } from './memory.ts'
import type { SessionBody, SessionRow } from './rows.ts'

/** Who sends a message, and until when an answer is of use. */
export interface Sender {
  readonly principal: Principal
  readonly ip: string
  readonly signal: AbortSignal
}

/** What a model said, whole or as far as it came. */
export interface Said {
  readonly text: string
  readonly model: string | undefined
  readonly finishReason: string | undefined
}

/** The calls of sessions: in the name of who sends a message, through all modules. */
export class SessionCalls {
  readonly #context: Pick<Context<unknown>, 'call' | 'log'>
  readonly #json: SealedJson
  readonly #memory: Memory

  constructor(context: Pick<Context<unknown>, 'call' | 'log'>, json: SealedJson, memory: Memory) {
    this.#context = context
    this.#json = json
    this.#memory = memory
  }

  /** The request for an answer to a message; `usage` gets what a summary costs. */
  async request(
    session: SessionRow,
    content: MessageContent,
    sender: Sender,
    usage: Usage,
  ): Promise<ModelRequest> {
    const opened = await this.#json.read(session.body)
    const { system_prompt, params } = (opened?.value ?? {}) as SessionBody
    const earlier = await this.#memory.recall(session, (text, tokens) =>
      this.#summary(session, text, tokens, sender, usage),
    )
    const system: Message[] = system_prompt === undefined ? [] : [{ role: 'system', content: system_prompt }]
    const question = { role: 'user', content } as Message
    return {
      ...params,
      model: modelNamed(session),
      messages: [...system, ...earlier, question],
    } as ModelRequest
  }

  make(session: SessionRow, request: ModelRequest, { principal, ip, signal }: Sender): MadeCall {
    return this.#context.call(request, { as: principal, source: 'workflow', ip, session: session.id, signal })
  }

  /** Undefined where it fails: a conversation goes on without one. */
  async #summary(
    session: SessionRow,
    text: string,
    tokens: number,
    sender: Sender,
    usage: Usage,
  ): Promise<string | undefined> {
    const complete = async (request: ModelRequest) => {
      const made = this.make(session, request, sender)
      try {
        return await collect(await made.reply)
      } finally {
        const outcome = await made.outcome
        if (outcome) usage.add(outcome)
      }
    }
    try {
      return await summarise(complete, { model: modelNamed(session), tokens }, text, {})
    } catch (error) {
      sender.signal.throwIfAborted()
      this.#context.log.warn({ err: error, session: session.id }, 'a session could not be summarised')
      return undefined
    }
  }
}

/** What an answer says. */
export const saidIn = (completion: Completion): Said => ({
  text: answerText(completion),
  model: completion.model || undefined,
  finishReason: completion.choices?.[0]?.finish_reason ?? undefined,
})
