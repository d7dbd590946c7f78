import Anthropic from '@anthropic-ai/sdk'
import { type Played, startPlayed } from './played.ts'
import { anthropic } from './upstream/anthropic/index.ts'
import { openai } from './upstream/index.ts'

/** OpenAI and Anthropic, and a user's clients of both makers. */
export interface Both extends Played {
  readonly anthropic: Anthropic
}

/** Starts a gateway in front of the two, which one upstream plays. */
export async function startBoth(): Promise<Both> {
  const played = await startPlayed({ wires: [openai, anthropic] }, ({ baseUrl }) => ({
    config: {
      providers: {
        openai: { base_url: baseUrl('openai'), api_key: 'sk-test' },
        anthropic: { base_url: baseUrl('anthropic'), api_key: 'sk-test' },
      },
    },
  }))
  const { gateway, userKey } = played
  return { ...played, anthropic: new Anthropic({ baseURL: gateway.url, apiKey: userKey, maxRetries: 0 }) }
}
