import { z } from 'zod'
import { type Call, defineModule, type Message, TokenCounting } from '#kernel'
import {
  ensure,
  messageTexts,
  patternFinder,
  patternSchema,
  roughTokens,
  summaryMessage,
  tokenLimit,
} from '#kit'
import { cutUntilFits, dropUntilFits, type Fitted, type Room } from './fit.ts'
import { KeptSummaries } from './kept-summaries.ts'
import { droppable } from './plan.ts'
import { Summaries } from './summary.ts'

const settings = z
  .strictObject({
    strategy: z.enum(['oldest', 'middle', 'summarize']).default('oldest').meta({
      title: 'Strategy',
      description:
        'What goes when a conversation is too long: its oldest turns; the turns in its middle, and then the middle of long texts; or its oldest turns, in whose place a model puts a summary.',
    }),
    reserve_output: z.int().min(0).default(1024).meta({
      title: 'Room for the answer',
      description:
        'Tokens of the window that stay free, or max_tokens of the call if that is more, up to half of the window.',
    }),
    keep_turns: z.int().min(1).max(100).default(1).meta({
      title: 'Newest turns',
      description:
        'Turns at the end that go last. What the user said last, and the last tool results, always stay.',
    }),
    pinned: z.array(patternSchema).max(50).default([]).meta({
      title: 'Pinned',
      description:
        'Regular expressions (RE2), such as ^\\[pin\\]. Messages whose text has a match always stay.',
    }),
    summary_model: z.string().min(1).max(256).optional().meta({
      title: 'Model for summaries',
      description: 'The model that summarises, with the keys of the caller, who pays.',
    }),
    summary_tokens: z.int().min(16).max(100_000).default(500).meta({
      title: 'Length of summaries',
      description: 'Most tokens of a summary.',
    }),
  })
  .refine(({ strategy, summary_model }) => strategy !== 'summarize' || summary_model !== undefined, {
    path: ['summary_model'],
    message: 'is needed for the strategy summarize',
  })

const longestPin = 1000
/** Turns that a summary takes up at a time, so that one summary serves several turns. */
const summaryStep = 4
/** An estimate may be too low by a tenth. */
const caution = 1.1

export default defineModule({
  settings,

  once: (context) => new KeptSummaries(context),

  setup({ id, settings, mode, targets, find, complete }, kept) {
    const { strategy, reserve_output, keep_turns: turns, summary_model: model, summary_tokens } = settings
    const pins = settings.pinned.map((source) => patternFinder(source, longestPin))
    const isPinned = (message: Message): boolean =>
      messageTexts(message).some((text) => pins.some((find) => find(text, 0)))
    const summaries =
      model === undefined ? undefined : new Summaries(complete, { model, tokens: summary_tokens }, kept)

    async function roomFor(call: Call): Promise<Room | undefined> {
      const [target] = await targets(call)
      if (target?.window === undefined) return undefined
      const { window, model } = target
      const half = Math.floor(window / 2)
      const asked = Math.min(tokenLimit(call.request) ?? 0, half)
      const free = Math.max(reserve_output < window ? reserve_output : half, asked)
      const counting = find(TokenCounting)
      const tokensOf = async (messages: readonly Message[]): Promise<number> => {
        const request = { ...call.request, model, messages }
        if (!counting) return roughTokens(request) * caution
        const { input } = await counting.count(request)
        return input.quality === 'estimate' ? Math.ceil(input.tokens * caution) : input.tokens
      }
      const counts = new Map<readonly Message[], Promise<number>>()
      return {
        most: window - free,
        count: (messages) => ensure(counts, messages, () => tokensOf(messages)),
      }
    }

    async function summarised(
      call: Call,
      messages: readonly Message[],
      room: Room,
    ): Promise<Fitted | undefined> {
      const smaller = { ...room, most: room.most - summary_tokens }
      const order = droppable(messages, { from: 'oldest', turns, isPinned })
      const fitted = await dropUntilFits(messages, order, smaller, summaryStep)
      if (!fitted) return undefined
      try {
        const summary = await summaries!.of(
          messages.filter((_, at) => fitted.dropped.has(at)),
          call,
        )
        const first = Math.min(...fitted.dropped)
        const before = messages.slice(0, first)
        const whole = [...before, summaryMessage(summary), ...fitted.messages.slice(before.length)]
        if ((await room.count(whole)) <= room.most) return { ...fitted, messages: whole }
        call.trace.note(id, 'summary_too_long')
      } catch {
        call.trace.note(id, 'summary_failed')
      }
      return fitted
    }

    async function trimmed(
      call: Call,
      messages: readonly Message[],
      room: Room,
    ): Promise<Fitted | undefined> {
      // In shadow nobody pays for a summary: the turns count as dropped.
      if (strategy === 'summarize' && mode === 'enforce') {
        const fitted = await summarised(call, messages, room)
        if (fitted) return fitted
      }
      const from = strategy === 'middle' ? 'middle' : 'oldest'
      const order = droppable(messages, { from, turns, isPinned })
      const fitted = await dropUntilFits(messages, order, room, 1)
      if (fitted || strategy !== 'middle') return fitted
      const dropped = new Set(order.flat())
      const cut = await cutUntilFits(
        messages.filter((_, at) => !dropped.has(at)),
        room,
        isPinned,
      )
      return cut && { messages: cut, dropped }
    }

    return {
      async request(call) {
        const { messages } = call.request
        if (!messages) return undefined
        const room = await roomFor(call)
        if (!room || roughTokens(call.request) * 2 <= room.most) return undefined
        const from = await room.count(messages)
        if (from <= room.most) return undefined
        const fitted = await trimmed(call, messages, room)
        if (!fitted) {
          call.trace.note(id, 'does_not_fit', { tokens: from, most: room.most })
          return undefined
        }
        const to = await room.count(fitted.messages)
        call.trace.note(id, 'trimmed', { strategy, messages: fitted.dropped.size, from, to })
        call.trace.header('x-context-trimmed', fitted.dropped.size)
        return call.withRequest({ messages: fitted.messages })
      },
    }
  },
})
