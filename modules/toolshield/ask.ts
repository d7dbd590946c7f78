import type { Call, Completion } from '#kernel'
import { calledIn } from './called.ts'
import type { Refused } from './judge.ts'

/** The call again, with what the model said and what was wrong with its calls of tools. */
export function askingAgain(call: Call, { choices = [] }: Completion, refused: readonly Refused[]): Call {
  const first = choices.find(({ index }) => index === refused[0]?.choice)?.message
  const called = first ? calledIn(first) : []
  const problems = refused
    .filter(({ choice }) => choice === refused[0]?.choice)
    .map(({ place, problem }) => `${called[place]?.name}: ${problem}`)
  const said = first?.content
  return call.withRequest({
    messages: [
      ...(call.request.messages ?? []),
      ...(said ? [{ role: 'assistant', content: said }] : []),
      {
        role: 'user',
        content: `None of your tool calls was made, because of these problems:\n${problems.join('\n')}\nAnswer again without them.`,
      },
    ],
  })
}
