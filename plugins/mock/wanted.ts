import type { Choice, ModelRequest } from '#kernel'
import { sampleOf } from './sample.ts'

/** The answer in the form that a request insists on: a tool's call, JSON of a schema, any JSON, or the text itself. */
export function wantedOf(
  request: ModelRequest,
  id: string,
  text: string,
): Required<Pick<Choice, 'message' | 'finish_reason'>> {
  const tool = toolOf(request)
  if (tool) {
    const call = {
      name: tool.name,
      arguments: JSON.stringify(sampleOf(tool.parameters ?? { type: 'object' }, 'tools')),
    }
    const tool_calls = [{ id: `call_${id}`, type: 'function' as const, function: call }]
    return {
      message: { role: 'assistant', content: null, refusal: null, tool_calls },
      finish_reason: 'tool_calls',
    }
  }
  const content = contentOf(request, text)
  return { message: { role: 'assistant', content, refusal: null }, finish_reason: 'stop' }
}

function contentOf({ response_format: form }: ModelRequest, text: string): string {
  if (form?.type === 'json_schema')
    return JSON.stringify(sampleOf(form.json_schema?.schema, 'response_format'))
  return form?.type === 'json_object' ? JSON.stringify({ answer: text }) : text
}

/** The tool that must be called: the one that is named, or the first when any must be. */
function toolOf({ tools, tool_choice: choice }: ModelRequest) {
  const functions = (tools ?? []).flatMap((tool) => tool.function ?? [])
  if (choice === 'required') return functions[0]
  const named = (choice as { function?: { name?: unknown } } | null | undefined)?.function?.name
  return functions.find(({ name }) => name === named)
}
