import { z } from 'zod'
import { type Call, type Completion, defineModule, type Message, TokenCounting } from '#kernel'
import { Assembler, detach, instructionsAtStart, messageTokens, personalOfUsers, Writes } from '#kit'
import { Folding } from './folding.ts'
import { Memory } from './memory.ts'
import { recalled } from './recall.ts'
import { addRoutes } from './routes.ts'
import { sessionOf } from './session.ts'
import { hasHistory, ownMessages, turnOf } from './turn.ts'

export default defineModule({
  settings: z.strictObject({
    budget_tokens: z.int().min(100).max(32_000).default(2000).meta({
      title: 'Budget',
      description: 'Tokens that what is remembered may take in a call.',
    }),
    ttl_hours: z.int().min(1).max(8760).default(168).meta({
      title: 'Time to live',
      description: 'Hours after its last call until a session is forgotten.',
    }),
    share: z.enum(['key', 'user']).default('key').meta({
      title: 'Sharing',
      description:
        'Whether a session belongs to one key, or to all keys of its user. Two users never share one.',
    }),
    summary_model: z.string().min(1).max(256).optional().meta({
      title: 'Model for summaries',
      description:
        'The model that summarises old turns, with the keys of the caller, who pays. Sentences are picked without one.',
    }),
  }),

  once(context) {
    const memory = new Memory(context)
    const writes = new Writes()
    /** Resolves when what any thread was told before is on disk, so that it may be read or forgotten. */
    const written = context.inEachThread('written', () => writes.all())
    addRoutes(context, memory, written)
    context.personal(
      personalOfUsers({
        count: (user) => memory.countOf(user),
        erase: (user) => written().then(() => memory.forgetting.forgetAll(user)),
      }),
    )
    /** An answer is remembered once, in however many configurations of the module its call is. */
    return { memory, writes, written, answered: context.slot(() => ({ isRemembered: false })) }
  },

  setup(context, { memory, writes, written, answered }) {
    const { id, settings, inspect, find, log } = context
    const { budget_tokens: budget, ttl_hours: ttlHours, share, summary_model: model } = settings
    const folding = new Folding(context, memory, { budget, model })

    /** Takes down what the client said and sees, as soon as it is sent. */
    function remember(call: Call, body: Completion): void {
      const session = sessionOf(call, share)
      const said = session && turnOf(ownMessages(call), body)
      if (!said || answered(call).isRemembered) return
      answered(call).isRemembered = true
      const { principal, context } = call
      const { userId, tenant, keyId: key_id } = principal
      const keeping = {
        ...(userId !== undefined && { user_id: userId }),
        ...(tenant !== undefined && { tenant }),
        ...{ key_id, project: context.project, ttlHours },
      }
      const writing = writes.run(session.id, async () => {
        const row = await memory.add(session, said, keeping)
        detach('a summary of a session', folding.fold(session.id, row, call))
      })
      writing.catch((error: unknown) => log.warn({ err: error }, 'a turn was not remembered'))
    }

    return {
      async request(call) {
        const session = sessionOf(call, share)
        const own = ownMessages(call)
        if (!session || hasHistory(own)) return undefined
        await written()
        const found = await memory.recall(session.id)
        const count = (messages: readonly Message[]) => messageTokens(messages, call, find(TokenCounting))
        const brought = await recalled(call, found ?? nothing, budget, { inspect, count })
        const { messages, turns, tokens, hasSummary, keptOut } = brought
        call.trace.facts.chatmem = {
          session: session.id,
          turns,
          summary: hasSummary,
          tokens,
          kept_out: keptOut,
        }
        call.trace.header('X-Memory-Turns', turns)
        if (keptOut > 0) call.trace.note(id, 'kept_out', { turns: keptOut })
        if (messages.length === 0) return undefined
        const { messages: asked = [] } = call.request
        const place = asked.length - own.length + instructionsAtStart(own)
        return call.withRequest({ messages: asked.toSpliced(place, 0, ...messages) })
      },
      show: {
        body(body, call) {
          remember(call, body)
          return undefined
        },
        stream(call) {
          if (!sessionOf(call, share)) return undefined
          const assembler = new Assembler()
          return {
            push(chunk, out) {
              assembler.add(chunk.data)
              out.emit(chunk)
            },
            end: () => remember(call, assembler.completion()),
          }
        },
      },
    }
  },
})

const nothing = { summary: undefined, turns: [] }
