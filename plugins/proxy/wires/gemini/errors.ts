import type { GatewayError } from '#kernel'

const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  504: 'DEADLINE_EXCEEDED',
}

/** The names that fields of the canonical form have on this wire. */
const names: Readonly<Record<string, string>> = {
  max_completion_tokens: 'generationConfig.maxOutputTokens',
  messages: 'contents',
  n: 'generationConfig.candidateCount',
  reasoning_effort: 'generationConfig.thinkingConfig',
  response_format: 'generationConfig.responseSchema',
  stop: 'generationConfig.stopSequences',
  temperature: 'generationConfig.temperature',
  tool_choice: 'toolConfig.functionCallingConfig',
  top_k: 'generationConfig.topK',
  top_p: 'generationConfig.topP',
}

const type = (name: string): string => `type.googleapis.com/google.rpc.${name}`

/** An error as Google's APIs write it, with what else there is to say in its details. */
export function errorOf(error: GatewayError, requestId: string) {
  const { status: code, message, param, retryAfterS, module } = error
  const details = [
    {
      '@type': type('ErrorInfo'),
      reason: error.type.toUpperCase(),
      domain: 'switchyard',
      metadata: { request_id: requestId, code: error.code, ...(module !== undefined && { module }) },
    },
    ...(param === undefined
      ? []
      : [
          {
            '@type': type('BadRequest'),
            fieldViolations: [{ field: fieldOf(param), description: message }],
          },
        ]),
    ...(retryAfterS === undefined
      ? []
      : [{ '@type': type('RetryInfo'), retryDelay: `${Math.ceil(retryAfterS)}s` }]),
  ]
  const status = statuses[code] ?? (code < 500 ? 'INVALID_ARGUMENT' : 'UNAVAILABLE')
  return { error: { code, message, status, details } }
}

const fieldOf = (param: string): string => names[/^\w+/.exec(param)?.[0] ?? ''] ?? param
