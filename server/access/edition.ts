/** How the product is run: it decides where data planes are and what plans give. */
export const EDITIONS = ['self_hosted', 'saas', 'enterprise_hybrid'] as const;
export type Edition = (typeof EDITIONS)[number];
