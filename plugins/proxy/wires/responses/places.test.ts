import { expect, test } from 'vitest'
import { bodyPath } from './places.ts'

const places = {
  messages: [
    { at: 'instructions' },
    { at: 'input.0', content: 'content' as const },
    { at: 'input.1' },
    { at: 'input.4', content: 'output' as const },
  ],
  tools: ['tools.2.tools.0', 'input.3.tools.1'],
}

test.each([
  ['messages.0.content', 'instructions'],
  ['messages[1].content[2].file.file_id', 'input.0.content.2.file.file_id'],
  ['messages.2.tool_calls.0.function.arguments', 'input.1'],
  ['messages.3.content.1', 'input.4.output.1'],
  ['messages.9.content', 'messages.9.content'],
  ['tools[0].function.parameters', 'tools.2.tools.0.parameters'],
  ['tools.1', 'input.3.tools.1'],
  ['tools.9.type', 'tools.9.type'],
  ['max_completion_tokens', 'max_output_tokens'],
  ['response_format.json_schema', 'text.format.json_schema'],
  ['temperature', 'temperature'],
])('%s is %s', (param, path) => expect(bodyPath(param, places)).toBe(path))
