import type { Message, Tool } from '../kit/canonical/forms.ts'

/** A question that wants a tool, and the tool: the examples of OpenAI's cookbook. */

export const question: readonly Message[] = [
  {
    role: 'system',
    content: 'You are a helpful assistant that can answer to questions about the weather.',
  },
  { role: 'user', content: "What's the weather like in San Francisco?" },
]

export const weather: Tool = {
  type: 'function',
  function: {
    name: 'get_current_weather',
    description: 'Get the current weather in a given location',
    parameters: {
      type: 'object',
      properties: {
        location: { type: 'string', description: 'The city and state, e.g. San Francisco, CA' },
        unit: {
          type: 'string',
          description: 'The unit of temperature to return',
          enum: ['celsius', 'fahrenheit'],
        },
      },
      required: ['location'],
    },
  },
}
