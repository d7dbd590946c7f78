/** What an answer used beside tokens; null where the answer does not say. */
interface ToolUse {
  readonly tool_calls: number | null
  readonly search_calls: number | null
}

type Fields = Readonly<Record<string, unknown>>

/** What is counted of a stored answer when it is shown: a call that is only made need not have its answer read for this. */
export function toolUseIn(response: unknown): ToolUse {
  const { choices, usage } = fieldsOf(response)
  return {
    tool_calls: Array.isArray(choices)
      ? choices.reduce((sum: number, choice) => sum + callsIn(fieldsOf(fieldsOf(choice).message)), 0)
      : null,
    search_calls: searchesIn(fieldsOf(usage)),
  }
}

const callsIn = ({ tool_calls: calls, function_call: called }: Fields): number =>
  (Array.isArray(calls) ? calls.length : 0) + (called ? 1 : 0)

/** As Anthropic and Perplexity report them. */
function searchesIn({ server_tool_use: used, num_search_queries: queries }: Fields): number | null {
  const count = fieldsOf(used).web_search_requests ?? queries
  return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : null
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}
