import { z } from 'zod'
import { type Call, type Completion, defineModule, type Reply } from '#kernel'
import { answerTexts, collect, HeldAnswer, replyWith } from '#kit'
import { claimKinds } from './claims.ts'
import { type Ask, inventedNames, namesJudge } from './names.ts'
import { stripped } from './strip.ts'
import { givenWith, type Unsupported, unsupportedIn } from './unsupported.ts'

export default defineModule({
  settings: z.strictObject({
    check: z
      .array(z.enum(claimKinds))
      .min(1)
      .default([...claimKinds])
      .meta({
        title: 'Claims',
        description:
          'What is held to what was given: addresses, marks of citations, quotations, quantities with a unit, dates.',
      }),
    action: z.enum(['annotate', 'strip', 'retry']).default('annotate').meta({
      title: 'Action',
      description:
        'Names what is unsupported in X-Unsupported-Claims, and its kind in the trace; takes the sentences out that say it; or asks the model again once, and then names what is left. Of what does not reach the client the header has the kind only.',
    }),
    min_context: z.int().min(1).max(1_000_000).default(200).meta({
      title: 'Least given',
      description:
        'Characters of messages, documents and tool results that a call must have for its answer to be checked: with less there is nothing to hold it to.',
    }),
    names_judge: namesJudge.optional().meta({
      title: 'Judge of names',
      description:
        'A model that looks for names that were not given, with the keys of the caller, who pays. Names are not checked without one.',
    }),
  }),

  setup({ id, settings, mode, complete, slot }) {
    const { action, min_context, names_judge: judge } = settings
    const kinds = new Set(settings.check)
    const told = slot<{ found?: readonly Unsupported[] }>(() => ({}))
    const ask: Ask = (request, on, signal) => complete(request, { on, as: 'caller', signal })

    async function examine(body: Completion, call: Call): Promise<readonly Unsupported[]> {
      const given = givenWith(call)
      const found = unsupportedIn(body, given, kinds, min_context)
      // In shadow nobody pays for a judge.
      if (!found || !judge || mode === 'shadow') return found ?? []
      const names = await inventedNames(answerTexts(body).join('\n'), given, call, judge, ask)
      return [...found, ...names.map((text) => ({ kind: 'name' as const, text }))]
    }

    function tell(call: Call, found: readonly Unsupported[]): void {
      for (const { kind } of found)
        call.trace.finding(id, {
          type: 'custom',
          severity: 'medium',
          action: action === 'strip' ? 'redact' : 'warn',
          direction: 'reply',
          label: `unsupported_${kind}`,
        })
      told(call).found = found
    }

    /** Quotes no more than what the client gets: guards may take out what was found. */
    function quote(body: Completion, call: Call): void {
      const { found } = told(call)
      if (found) call.trace.header('x-unsupported-claims', headerOf(found, answerTexts(body)))
    }

    const arrangement = JSON.stringify(settings)
    return {
      varies: ({ operation }) => (operation === 'chat' ? arrangement : undefined),
      wraps: ({ operation }) => operation === 'chat',
      async around(call, next) {
        const reply = await next(call)
        const body = await collect(reply)
        const found = await examine(body, call)
        if (found.length === 0) return passed(reply, call, body)
        if (action === 'annotate') {
          tell(call, found)
          return passed(reply, call, body)
        }
        if (action === 'strip') {
          tell(call, found)
          return replyWith(call, stripped(body, found))
        }
        call.trace.note(id, 'asked_again', { unsupported: found.length })
        const again = await next(askingAgain(call, body, found))
        const second = await collect(again)
        const left = await examine(second, call)
        if (left.length > 0) tell(call, left)
        return passed(again, call, second)
      },
      show: {
        body: (body, call) => void quote(body, call),
        stream: (call) => told(call).found && held((body) => quote(body, call)),
      },
    }
  },
})

/** A plain answer goes on with its bytes; a stream was read, and is written anew. */
const passed = (reply: Reply, call: Call, body: Completion): Reply =>
  reply.kind === 'whole' ? reply : replyWith(call, body)

/** Lets a stream go once its whole answer was seen. */
const held = (see: (body: Completion) => void): HeldAnswer =>
  new HeldAnswer({
    holdsFrom: () => true,
    sees: 'held',
    tooLong: () => undefined,
    judge(answer, chunks) {
      see(answer)
      return chunks
    },
  })

/** Longer lists say no more to a person, and proxies refuse long headers. */
const longestHeader = 1000

function headerOf(found: readonly Unsupported[], texts: readonly string[]): string {
  const list = found.map(({ kind, text }) => {
    if (!texts.some((said) => said.includes(text))) return kind
    return `${kind}=${encodeURIComponent(text.slice(0, 200).toWellFormed())}`
  })
  let header = ''
  for (const one of list) {
    if (header.length + one.length > longestHeader) return `${header}, more`
    header += header === '' ? one : `, ${one}`
  }
  return header
}

function askingAgain(call: Call, body: Completion, found: readonly Unsupported[]): Call {
  const said = answerTexts(body)[0]
  return call.withRequest({
    messages: [
      ...(call.request.messages ?? []),
      ...(said ? [{ role: 'assistant', content: said }] : []),
      {
        role: 'user',
        content: `Nothing that you were given supports these parts of that answer:\n${found.map(({ text }) => text).join('\n')}\nAnswer again with what was given only, without a word about this.`,
      },
    ],
  })
}
