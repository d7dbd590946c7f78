import { anthropic } from './providers/anthropic.ts'
import { bedrock } from './providers/bedrock.ts'
import { gemini } from './providers/gemini.ts'
import type { TestProvider } from './providers/provider.ts'
import { call, type RawWire, tools } from './raw.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='

/** What the assistant's answer is to begin with. Claude refuses one that ends in white space. */
const prefills = [
  { wire: 'chat', body: turnsUpTo('{"x": \n'), only: [anthropic, bedrock] },
  { wire: 'chat', body: turnsUpTo([{ type: 'text', text: '{"x": \n' }]), only: [anthropic, bedrock] },
  {
    wire: 'chat',
    body: turnsUpTo([
      { type: 'text', text: '{"x":' },
      { type: 'text', text: ' ' },
    ]),
    only: [anthropic, bedrock],
  },
  { wire: 'messages', body: turnsUpTo('{"x": \n'), only: [bedrock] },
  { wire: 'responses', body: { input: turnsUpTo('{"x": \n').messages }, only: [anthropic, bedrock] },
].map((one) => ({
  ...one,
  wire: one.wire as RawWire,
  name: 'an answer that is begun',
  says: ['Q1', '{\\"x\\":"'],
}))

function turnsUpTo(content: unknown) {
  return {
    messages: [
      { role: 'user', content: 'Q1' },
      { role: 'assistant', content },
    ],
  }
}

/** Conversations that clients may have and seldom do, each as its wire writes it. */
export const conversations: readonly {
  readonly name: string
  readonly wire: RawWire
  readonly body: object
  /** Words that the service must be sent, in this order where it is one. */
  readonly says: readonly string[]
  readonly only?: readonly TestProvider[]
}[] = [
  {
    name: 'instructions in every place',
    wire: 'chat',
    body: {
      messages: [
        { role: 'system', content: 'S1' },
        { role: 'developer', content: [{ type: 'text', text: 'S2' }] },
        { role: 'user', content: 'Q1' },
        { role: 'system', content: 'S3' },
        { role: 'assistant', content: 'A1' },
        { role: 'user', content: 'Q2' },
      ],
    },
    says: ['S1', 'S2', 'Q1', 'S3', 'A1', 'Q2'],
  },
  {
    name: 'a greeting of the assistant’s first',
    wire: 'chat',
    body: {
      messages: [
        { role: 'system', content: 'S1' },
        { role: 'assistant', content: 'A0' },
        { role: 'user', content: 'Q1' },
      ],
    },
    says: ['S1', 'A0', 'Q1'],
  },
  ...prefills,
  {
    name: 'instructions between the results of parallel calls',
    wire: 'chat',
    body: {
      tools: tools.chat,
      messages: [
        { role: 'user', content: 'Q1' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [call('a', 'look', ''), call('b', 'go', '{"x":"é😀"}')],
        },
        { role: 'tool', tool_call_id: 'b', content: 'R2' },
        { role: 'system', content: 'S1' },
        { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'R1' }] },
        { role: 'user', content: 'Q2' },
      ],
    },
    says: ['Q1', 'é😀', 'R2', 'R1', 'S1', 'Q2'],
    only: [anthropic, gemini, bedrock],
  },
  {
    name: 'parallel calls in two messages',
    wire: 'chat',
    body: {
      tools: tools.chat,
      messages: [
        { role: 'user', content: 'Q1' },
        { role: 'assistant', content: 'A1', tool_calls: [call('a', 'look', '{}')] },
        { role: 'assistant', content: 'A2', tool_calls: [call('b', 'go', '{}')] },
        { role: 'tool', tool_call_id: 'b', content: 'R2' },
        { role: 'tool', tool_call_id: 'a', content: 'R1' },
      ],
    },
    says: ['Q1', 'A1', 'A2', 'R2', 'R1'],
    only: [anthropic, gemini, bedrock],
  },
  {
    name: 'empty words, results and lists',
    wire: 'chat',
    body: {
      tools: tools.chat,
      messages: [
        { role: 'user', content: 'Q1' },
        { role: 'assistant', content: null, tool_calls: [call('a', 'look', '{}'), call('b', 'go', ' ')] },
        { role: 'tool', tool_call_id: 'a', content: '' },
        { role: 'tool', tool_call_id: 'b', content: [] },
        { role: 'assistant', content: '' },
        { role: 'user', content: 'Q2' },
      ],
    },
    says: ['Q1', 'look', 'go', 'Q2'],
  },
  {
    name: 'arguments that a model cut off or wrote badly',
    wire: 'chat',
    body: {
      tools: tools.chat,
      messages: [
        { role: 'user', content: 'Q1' },
        { role: 'assistant', content: 'A1', tool_calls: [call('a', 'look', '{"x": "half of i')] },
        { role: 'tool', tool_call_id: 'a', content: 'Not JSON; try again.' },
      ],
    },
    says: ['Q1', 'A1', 'half of i', 'try again'],
  },
  {
    name: 'results with pictures',
    wire: 'messages',
    body: {
      tools: tools.messages,
      messages: [
        { role: 'user', content: 'Q1' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'A1' },
            { type: 'tool_use', id: 't1', name: 'look', input: {} },
            { type: 'tool_use', id: 't2', name: 'go', input: { x: 'é😀' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't2',
              content: [
                { type: 'text', text: 'R2' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
                { type: 'text', text: 'R3' },
              ],
            },
            { type: 'text', text: 'Q2' },
            { type: 'tool_result', tool_use_id: 't1', content: 'R1', is_error: true },
          ],
        },
      ],
    },
    says: ['Q1', 'A1', 'é😀', 'R2', 'R3', png, 'Q2'],
  },
  {
    name: 'words between calls, and instructions in the midst',
    wire: 'messages',
    body: {
      system: [
        { type: 'text', text: 'S1' },
        { type: 'text', text: 'S2' },
      ],
      tools: tools.messages,
      messages: [
        { role: 'user', content: 'Q1' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'A1' },
            { type: 'tool_use', id: 't1', name: 'look', input: {} },
            { type: 'text', text: 'A2' },
            { type: 'tool_use', id: 't2', name: 'go', input: { x: 'y' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1' },
            { type: 'tool_result', tool_use_id: 't2', content: [] },
          ],
        },
        { role: 'system', content: 'S3' },
        { role: 'assistant', content: 'A3' },
        { role: 'user', content: 'Q2' },
      ],
    },
    says: ['S1', 'S2', 'Q1', 'A1', 'A2', 'S3', 'A3', 'Q2'],
  },
  {
    name: 'words between calls',
    wire: 'responses',
    body: {
      instructions: 'S1',
      tools: tools.responses,
      input: [
        { type: 'message', role: 'user', content: 'Q1' },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'T1' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'A1', annotations: [] }],
        },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '' },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'A2', annotations: [] }],
        },
        { type: 'function_call', call_id: 'c2', name: 'go', arguments: '{"x":"é😀"}' },
        {
          type: 'function_call_output',
          call_id: 'c2',
          output: [
            { type: 'input_text', text: 'R2' },
            { type: 'input_image', image_url: `data:image/png;base64,${png}` },
          ],
        },
        { type: 'function_call_output', call_id: 'c1', output: '' },
        { type: 'message', role: 'developer', content: 'S2' },
        { type: 'message', role: 'user', content: 'Q2' },
      ],
    },
    says: ['S1', 'Q1', 'A1', 'A2', 'é😀', 'R2', png, 'S2', 'Q2'],
  },
]
