import { z } from 'zod'
import {
  type Call,
  CallTaint,
  type Completion,
  contentBlocked,
  defineModule,
  type GatewayError,
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
  toChunks,
} from '#kit'
import { argumentRule, compileArguments } from './arguments.ts'
import { askingAgain } from './ask.ts'
import { type Refused, refusedIn } from './judge.ts'
import { lists, listsBy, ToolNames } from './names.ts'
import { type Offered, ToolSchemas, withoutHosted } from './offered.ts'
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
    const schemas = new ToolSchemas()
    const offers = slot<{ tools?: Offered }>(() => ({}))
    const offeredBy = (call: Call): Offered | undefined => {
      if (!validate) return undefined
      offers(call).tools ??= schemas.offeredBy(call.request)
      return offers(call).tools
    }

    /** The refused calls of an answer, with each of them in the trace. */
    const refusedOf = (body: Completion, call: Call, isTaken: boolean): Refused[] => {
      const isUnsafe = changes && context.find(CallTaint)?.of(call) ? changes : undefined
      const policy = { names, check, mostCalls, isUnsafe, offered: offeredBy(call), restore: revealing(call) }
      const refused = refusedIn(body, call, policy)
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

    const judgedStream = (reply: StreamReply, call: Call): Reply => {
      const held = new HeldAnswer({
        holdsFrom: callsTool,
        sees: 'held',
        tooLong: () =>
          contentBlocked('The answer is too long for its tool calls to be checked.', { module: id }),
        judge(answer, chunks) {
          const refused = refusedOf(answer, call, action === 'strip')
          if (refused.length === 0) return chunks
          return action === 'strip' ? toChunks(stripped(answer, refused)) : refusal(id, refused)
        },
      })
      return reply.through(filterStream(reply.chunks, [held]))
    }

    return {
      request(call) {
        if (call.operation !== 'chat') return undefined
        // A schema that cannot be used is refused before the model is paid.
        offeredBy(call)
        return names.isEmpty ? undefined : withoutHosted(call, (tool) => names.mayCall(tool, call))
      },
      wraps: ({ operation }) => operation === 'chat',
      async around(call, next) {
        const reply = await next(call)
        const mayAsk = action === 'retry' && offersTools(call)
        if (reply.kind === 'stream' && !mayAsk) return judgedStream(reply, call)
        const body = await collect(reply)
        const refused = refusedOf(body, call, action === 'strip')
        if (refused.length === 0) return reply.kind === 'whole' ? reply : replyWith(call, body)
        if (action === 'strip') return replyWith(call, stripped(body, refused))
        if (!mayAsk) throw refusal(id, refused)
        const again = await collect(await next(askingAgain(call, body, refused)))
        const still = refusedOf(again, call, false)
        if (still.length > 0) throw refusal(id, still)
        return replyWith(call, again)
      },
    }
  },
})

const offersTools = ({ request: { tools, functions } }: Call): boolean =>
  [tools, functions].some((list) => Array.isArray(list) && list.length > 0)

const refusal = (module: string, refused: readonly Refused[]): GatewayError =>
  contentBlocked('The model called a tool in a way that the policy for tools does not allow.', {
    module,
    details: { reasons: [...new Set(refused.map(({ reason }) => reason))] },
  })
