import { z } from 'zod'
import {
  type Awaitable,
  type Call,
  CallTaint,
  type Chunk,
  type Completion,
  contentBlocked,
  defineModule,
  type Filter,
  type GatewayError,
  isGatewayError,
  type Reply,
  type StreamReply,
} from '#kernel'
import {
  callsTool,
  collect,
  compileGlobs,
  filterStream,
  HeldAnswer,
  orNone,
  replyWith,
  revealing,
  Schemas,
  toChunks,
} from '#kit'
import { argumentRule, compileArguments } from './arguments.ts'
import { askingAgain } from './ask.ts'
import { type Refused, refusedIn } from './judge.ts'
import { lists, listsBy, ToolNames } from './names.ts'
import { needsTime, type Offered, ToolSchemas, withoutHosted } from './offered.ts'
import { stripped } from './strip.ts'

export default defineModule({
  settings: z.strictObject({
    ...lists,
    per_project: listsBy.meta({
      title: 'Per project',
      description: 'Lists by the name of a project. They narrow the general lists and never widen them.',
    }),
    per_key: listsBy.meta({
      title: 'Per key',
      description: 'Lists by key id. They narrow the general lists and never widen them.',
    }),
    validate: z.boolean().default(true).meta({
      title: 'Validate',
      description:
        'Whether a tool must be one that the request offers, with arguments that match its JSON Schema.',
    }),
    arguments: z.array(argumentRule).max(100).default([]).meta({
      title: 'Arguments',
      description: 'Rules for the values of arguments: paths, hosts, shell characters, patterns.',
    }),
    max_calls: orNone(z.int().min(1).max(1000)).default('none').meta({
      title: 'Most calls',
      description: 'Tool calls of one answer; further ones are refused. `none` for no limit.',
    }),
    side_effects: z.array(z.string().min(1).max(256)).max(1000).default([]).meta({
      title: 'Side effects',
      description:
        'Globs for tools that change something. They may not be called in a call that has a result of a tool, or a retrieved text, that `promptguard` finds suspect.',
    }),
    action: z.enum(['strip', 'block', 'retry']).default('strip').meta({
      title: 'Action',
      description:
        'Takes refused calls out of the answer, refuses the whole answer, or asks the model again once and then refuses it. With retry, a stream of a call with tools is held until it is complete.',
    }),
  }),

  setup(context) {
    const { id, settings, slot } = context
    const { action, validate, max_calls, side_effects } = settings
    const names = new ToolNames(settings)
    const mostCalls = max_calls === 'none' ? Number.POSITIVE_INFINITY : max_calls
    const hasLimits = max_calls !== 'none' || side_effects.length > 0
    if (!validate && names.isEmpty && settings.arguments.length === 0 && !hasLimits) return {}
    const changes = side_effects.length > 0 ? compileGlobs(side_effects) : undefined
    const check = compileArguments(settings.arguments)
    const schemas = new Schemas()
    context.own(() => schemas.close())
    const known = new ToolSchemas(schemas)
    const offers = slot<{ tools?: Awaitable<Offered> }>(() => ({}))
    const offeredBy = (call: Call): Awaitable<Offered> | undefined => {
      if (!validate) return undefined
      offers(call).tools ??= known.offeredBy(call.request)
      return offers(call).tools
    }

    /** The refused calls of an answer, with each of them in the trace. */
    const refusedOf = (
      body: Completion,
      call: Call,
      { offered, isTaken }: { readonly offered: Offered | undefined; readonly isTaken: boolean },
    ): Awaitable<Refused[]> => {
      const isUnsafe = changes && context.find(CallTaint)?.of(call) ? changes : undefined
      const policy = { names, check, mostCalls, isUnsafe, offered, restore: revealing(call) }
      const refused = refusedIn(body, call, policy)
      const noted = (all: Refused[]): Refused[] => noteAll(all, call, isTaken)
      return refused instanceof Promise ? refused.then(noted) : noted(refused)
    }

    const noteAll = (refused: Refused[], call: Call, isTaken: boolean): Refused[] => {
      for (const { reason } of refused) {
        call.trace.finding(id, {
          type: 'tool',
          severity: ['denied', 'tainted', 'arguments'].includes(reason) ? 'high' : 'medium',
          action: isTaken ? 'redact' : 'block',
          direction: 'reply',
          label: reason,
        })
      }
      return refused
    }

    const judgedStream = (reply: StreamReply, call: Call, offered: Offered | undefined): Reply => {
      const made = (answer: Completion, chunks: readonly Chunk[], refused: readonly Refused[]): Judged => {
        if (refused.length === 0) return chunks
        return action === 'strip' ? toChunks(stripped(answer, refused)) : refusal(id, refused)
      }
      const holding = (judge: (answer: Completion, chunks: readonly Chunk[]) => Judged) =>
        new HeldAnswer({
          holdsFrom: callsTool,
          sees: 'held',
          tooLong: () =>
            contentBlocked('The answer is too long for its tool calls to be checked.', { module: id }),
          judge,
        })
      const how = { offered, isTaken: action === 'strip' }
      if (needsTime(offered))
        return reply.through(
          judgedAside(reply.chunks, holding, async (answer, chunks) =>
            made(answer, chunks, await refusedOf(answer, call, how)),
          ),
        )
      const judge = (answer: Completion, chunks: readonly Chunk[]): Judged =>
        made(answer, chunks, refusedOf(answer, call, how) as Refused[])
      return reply.through(filterStream(reply.chunks, [holding(judge)]))
    }

    return {
      request(call) {
        if (call.operation !== 'chat') return undefined
        // A schema that cannot be used is refused before the model is paid.
        const offered = offeredBy(call)
        const allowed = () =>
          names.isEmpty ? undefined : withoutHosted(call, (tool) => names.mayCall(tool, call))
        return offered instanceof Promise ? offered.then(allowed) : allowed()
      },
      wraps: ({ operation }) => operation === 'chat',
      async around(call, next) {
        const reply = await next(call)
        const offered = await offeredBy(call)
        const mayAsk = action === 'retry' && offersTools(call)
        if (reply.kind === 'stream' && !mayAsk) return judgedStream(reply, call, offered)
        const body = await collect(reply)
        const refused = await refusedOf(body, call, { offered, isTaken: action === 'strip' })
        if (refused.length === 0) return reply.kind === 'whole' ? reply : replyWith(call, body)
        if (action === 'strip') return replyWith(call, stripped(body, refused))
        if (!mayAsk) throw refusal(id, refused)
        const again = await collect(await next(askingAgain(call, body, refused)))
        const still = await refusedOf(again, call, { offered, isTaken: false })
        if (still.length > 0) throw refusal(id, still)
        return replyWith(call, again)
      },
    }
  },
})

/** What goes on in the place of what was held back of an answer, or its end. */
type Judged = readonly Chunk[] | GatewayError

/** The same as a filter does that holds back an answer, where its judge takes time. */
async function* judgedAside(
  chunks: AsyncIterable<readonly Chunk[]>,
  holding: (judge: (answer: Completion, held: readonly Chunk[]) => readonly Chunk[]) => Filter,
  judge: (answer: Completion, held: readonly Chunk[]) => Promise<Judged>,
): AsyncGenerator<readonly Chunk[]> {
  let judging: Promise<Judged> | undefined
  const held = holding((answer, kept) => {
    judging = judge(answer, kept)
    judging.catch(() => {})
    return []
  })
  yield* filterStream(chunks, [held])
  const judged = await judging
  if (isGatewayError(judged)) throw judged
  if (judged && judged.length > 0) yield judged
}

const offersTools = ({ request: { tools, functions } }: Call): boolean =>
  [tools, functions].some((list) => Array.isArray(list) && list.length > 0)

const refusal = (module: string, refused: readonly Refused[]): GatewayError =>
  contentBlocked('The model called a tool in a way that the policy for tools does not allow.', {
    module,
    details: { reasons: [...new Set(refused.map(({ reason }) => reason))] },
  })
