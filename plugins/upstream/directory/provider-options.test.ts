import { expect, it } from 'vitest'
import { ConfigError } from '../../../config/config.ts'
import { startGateway } from '../../../test/harness.ts'

/** What a start says of the options of these providers; nothing when it starts. */
async function problems(providers: Record<string, unknown>): Promise<readonly string[]> {
  try {
    const gateway = await startGateway({ config: { providers } })
    await gateway.close()
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

it('a start with options that are known, in the form they are to have, is a start', async () => {
  const sound = {
    azure: { options: { resource: 'r', api_version: '2024-10-21', deployments: { 'gpt-4o': 'mine' } } },
    gemini: { options: { signatures_in_ids: false } },
    vertex: { options: { project: 'p', location: 'europe-west1', signatures_in_ids: true } },
    bedrock: { options: { region: 'eu-central-1', profiles: { a: 'b' } } },
    cloudflare: { options: { account_id: 'a' } },
    own: { type: 'openai', base_url: 'http://127.0.0.1:9', options: { deployments: { a: 'b' } } },
  }
  expect(await problems(sound)).toEqual([])
})

it('every mistake is told at once, a line each, with the name that was meant', async () => {
  const wrong = {
    azure: { options: { resourc: 'r', deployments: 'mine' } },
    gemini: { options: { signatures_in_ids: 'no', safety_settings: [{ category: 'X' }] } },
    vertex: { options: { location: 'Europe West' } },
    anthropic: { options: { color: 'red' } },
  }
  const lines = await problems(wrong)
  expect(lines).toEqual([
    'service.yaml line 8: providers.azure.options.resourc: unknown option; the nearest known one is resource',
    expect.stringMatching(/^service\.yaml line 9: providers\.azure\.options\.deployments: .*expected record/),
    expect.stringMatching(
      /^service\.yaml line 13: providers\.gemini\.options\.safety_settings\.0\.threshold: /,
    ),
    expect.stringMatching(/^service\.yaml line 12: providers\.gemini\.options\.signatures_in_ids: .*boolean/),
    'service.yaml line 17: providers.vertex.options.location: expected a location, such as europe-west1 or global',
    'service.yaml line 20: providers.anthropic.options.color: this provider has no options',
  ])
})
