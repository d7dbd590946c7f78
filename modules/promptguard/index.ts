import { z } from 'zod'
import {
  type Call,
  CallTaint,
  type Detection,
  defineModule,
  Sealing,
  type Taint,
  type TextLocation,
} from '#kernel'
import { CleanTexts, patternFinder, patternSchema } from '#kit'
import { blankedOut } from './allowed.ts'
import { spanAcross } from './conversation.ts'
import { findingBy, spanFor } from './findings.ts'
import { Judge } from './judge.ts'
import { judge, judging } from './judging.ts'
import { isForeign, isSearched } from './places.ts'
import type { Verdict } from './score.ts'
import { framed } from './spotlight.ts'

/** The longest match of a pattern of the operator. */
const longestAllowed = 1000
/** A text that should ask nothing of a model is suspect from this share of the threshold on. */
const stricter = 0.85

export default defineModule({
  settings: z.strictObject({
    threshold: z.number().min(0.1).max(1).default(0.7).meta({
      title: 'Threshold',
      description:
        'From 0 to 1: how much a text must look like an attack. For results of tools and retrieved text it is a sixth lower.',
    }),
    action: z.enum(['block', 'flag', 'sanitize']).default('block').meta({
      title: 'Action',
      description:
        'What happens then: the request is refused, the trace tells of it, or the suspect part is removed. With the latter two a suspect result of a tool taints the call.',
    }),
    judge_model: z.string().min(1).max(256).optional().meta({
      title: 'Judge',
      description:
        'A model that is asked about texts that look suspicious and stay below the threshold, at the expense of the caller.',
    }),
    allow_patterns: z.array(patternSchema.min(1).max(1000)).max(100).default([]).meta({
      title: 'Allowed',
      description: 'RE2 expressions: what they match is not looked at.',
    }),
    spotlight: z.boolean().default(true).meta({
      title: 'Spotlight',
      description:
        'Whether results of tools and retrieved text are put between marks that no text can forge, which tell the model that they are material.',
    }),
  }),

  once({ provide, slot }) {
    const taints = slot<{ worst?: Taint }>(() => ({}))
    provide(CallTaint, { of: (call) => taints(call).worst })
    return taints
  },

  setup({ id, settings, mode, slot, use, complete, report }, taints) {
    const { threshold, action, spotlight } = settings
    const allowed = settings.allow_patterns.map((pattern) => patternFinder(pattern, longestAllowed))
    const without = (text: string): string => allowed.reduce(blankedOut, text)
    const asked = settings.judge_model === undefined ? undefined : new Judge(settings.judge_model, complete)
    const clean = { own: new CleanTexts(), foreign: new CleanTexts() }
    const seen = slot<Seen>(() => ({ doubtful: [], across: undefined }))

    const cleanOf = (foreign: boolean): CleanTexts => clean[foreign ? 'foreign' : 'own']

    const verdictOn = (text: string, foreign: boolean, call: Call): Verdict | undefined =>
      cleanOf(foreign).search(text, call, () => {
        const { studied } = seen(call)
        const known = studied?.text === text && studied.foreign === foreign
        const verdict = known ? studied.verdict : judge(without(text), foreign)
        return verdict.kind ? [verdict] : []
      })[0]

    const taint = (call: Call, place: TextLocation, score: number): void => {
      if (mode === 'shadow' || !isForeign(place)) return
      const of = taints(call)
      if ((of.worst?.score ?? 0) >= score) return
      of.worst = { from: place.origin === undefined ? 'tool' : 'retrieved', score }
      call.trace.note(id, 'tainted', { from: of.worst.from })
    }

    const request: Detection = {
      reach: Number.MAX_SAFE_INTEGER,
      verdict: 'sanitized',
      refusal: 'The content was refused: it looks like instructions that try to take the model over.',
      applies: (call) => call.operation !== 'embedding',
      *study(text, place, call) {
        const foreign = isForeign(place)
        if (!isSearched(place) || cleanOf(foreign).has(text, call)) return
        const verdict = yield* judging(without(text), foreign)
        seen(call).studied = { text, foreign, verdict }
      },
      scan(text, place, call) {
        if (!isSearched(place)) return []
        const foreign = isForeign(place)
        const limit = foreign ? threshold * stricter : threshold
        const of = seen(call)
        const verdict = verdictOn(text, foreign, call)
        if (verdict && verdict.score >= limit) return [spanFor(verdict, action)]
        if (!foreign && place.kind === 'content') {
          of.across ??= spanAcross(call.request, without, threshold)
          const across = of.across.get(text)
          if (across) return [spanFor(across, action)]
        }
        if (verdict && asked) of.doubtful.push({ text, place, score: verdict.score })
        return []
      },
      ...(spotlight && {
        frame: (text, place) =>
          isForeign(place) ? framed(text, place, use(Sealing).namesOf(id, text)[0]!) : text,
      }),
      found({ label, confidence = 0 }, place, call) {
        report(action, `${label} in a text of ${place.origin ?? place.role}`)
        taint(call, place, confidence)
      },
    }
    if (!asked) return { pure: true, detect: { request } }
    return {
      detect: { request },
      async request(call) {
        const { doubtful } = seen(call)
        const attacks = await asked.attacksAmong(doubtful, call)
        if (attacks.length === 0) return undefined
        for (const { place, score } of attacks) {
          call.trace.finding(id, { ...findingBy(action), direction: 'request', confidence: score })
          taint(call, place, score)
        }
        return asked.act(action, attacks, call)
      },
    }
  },
})

interface Seen {
  /** The text that was judged last, before its scan. */
  studied?: { readonly text: string; readonly foreign: boolean; readonly verdict: Verdict }
  readonly doubtful: { readonly text: string; readonly place: TextLocation; readonly score: number }[]
  /** Texts of the conversation that are an attack only together. */
  across: ReadonlyMap<string, Verdict> | undefined
}
