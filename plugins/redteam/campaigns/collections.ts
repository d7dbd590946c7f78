import type { Context } from '#kernel'
import { vulnerabilityRow } from '../vulnerabilities/rows.ts'
import { attackRow, campaignRow } from './rows.ts'

/** Stands in indexes for every user, and for every value of a filter that is not set. No id is this. */
export const all = '*'

const whose = (user: string | undefined): string[] => (user === undefined ? [all] : [user, all])

/** The collections of the area, with the indexes of their listings. */
export function openCollections(store: Context<unknown>['store']) {
  const campaigns = store.collection('campaigns', {
    schema: campaignRow,
    indexes: {
      listed: ({ user_id, status, created_at }) =>
        whose(user_id).flatMap((one) => [
          [one, status, created_at],
          [one, all, created_at],
        ]),
      user: ({ user_id }) => user_id,
      updated: ({ status, updated_at }) => (status === 'hunting' ? undefined : updated_at),
    },
  })
  const attacks = store.collection('attacks', {
    schema: attackRow,
    indexes: {
      place: ({ campaign_id, generation, index }) => [[campaign_id, generation, index]],
      listed: ({ user_id, campaign_id, genome: { type }, status, created_at }) =>
        whose(user_id).flatMap((one) =>
          [campaign_id, all].flatMap((campaign) =>
            [type, all].flatMap((of) => [status, all].map((came) => [one, campaign, of, came, created_at])),
          ),
        ),
    },
  })
  const vulnerabilities = store.collection('vulnerabilities', {
    schema: vulnerabilityRow,
    indexes: {
      campaign: ({ campaign_id }) => campaign_id,
      listed: ({ user_id, campaign_id, status, created_at }) =>
        whose(user_id).flatMap((one) =>
          [campaign_id, all].flatMap((campaign) =>
            [status, all].map((came) => [one, campaign, came, created_at]),
          ),
        ),
    },
  })
  return { campaigns, attacks, vulnerabilities }
}
