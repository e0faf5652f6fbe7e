/*
 * Withdraws money with a ticket: a token, which the bank issues for one withdrawal from one account.
 *
 *     withdraw
 *     withdraw redis://localhost:6379
 *     withdraw zk://localhost:2181/bank
 *
 * cc -std=c99 withdraw.c $(pkg-config --cflags --libs fencepost-client)
 */
#include <fencepost-client.h>
#include <stdio.h>
#include <string.h>

/* The bank's database. */
static long balances[] = {100, 100};
static const char *const accounts[] = {"account-7", "account-8"};

/* Makes a random ticket. */
static int make_ticket(char ticket[33]) {
    unsigned char random[16];
    FILE *source = fopen("/dev/urandom", "rb");
    size_t i, got = source == NULL ? 0 : fread(random, 1, sizeof random, source);

    if (source != NULL)
        fclose(source);
    for (i = 0; i < got; i++)
        snprintf(ticket + 2 * i, 3, "%02x", random[i]);
    return got == sizeof random;
}

/* Withdraws an amount and prints the balance after it. A ticket withdraws only once, even if it is used again. */
static fencepost_result
withdraw(fencepost_idempotency *tickets, const char *ticket, int account, long amount, const char *what) {
    const char *binding = accounts[account];
    fencepost_grant *claim = NULL;
    const void *balance;
    size_t size;
    char text[32];
    fencepost_result r;

    snprintf(text, sizeof text, "%ld", amount);
    r = fencepost_consume(tickets, ticket, binding, strlen(binding), text, strlen(text), 5000 /* ms */, &claim);
    if (r == FENCEPOST_OK) {
        balances[account] -= amount;
        snprintf(text, sizeof text, "%ld", balances[account]);
        r = fencepost_complete(claim, text, strlen(text));
    }
    if (r == FENCEPOST_OK || r == FENCEPOST_REPLAYED)
        r = fencepost_claim_result(claim, &balance, &size);
    if (r == FENCEPOST_OK)
        printf("balance after %s: %.*s\n", what, (int)size, (const char *)balance);
    else
        printf("%s: %s\n", what, fencepost_result_name(r));
    fencepost_grant_free(claim);
    return r;
}

int main(int argc, char **argv) {
    const char *url = argc > 1 ? argv[1] : "memory:";
    fencepost_client *client = NULL;
    fencepost_idempotency *tickets = NULL;
    char ticket[33], guessed[33];
    fencepost_result r;

    if (!make_ticket(ticket) || !make_ticket(guessed)) {
        perror("/dev/urandom");
        return 1;
    }
    r = fencepost_connect(url, &client);
    if (r == FENCEPOST_OK)
        r = fencepost_idempotency_open(client, "withdrawals", NULL, &tickets);
    /* The ticket is valid for one minute, and for this account only. */
    if (r == FENCEPOST_OK)
        r = fencepost_issue(tickets, ticket, accounts[0], strlen(accounts[0]), 60000 /* ms */);
    if (r == FENCEPOST_OK)
        r = withdraw(tickets, ticket, 0, 30, "the withdrawal");
    if (r == FENCEPOST_OK)
        r = withdraw(tickets, ticket, 0, 30, "a repetition");
    if (r == FENCEPOST_OK) {
        withdraw(tickets, ticket, 0, 50, "another amount");
        withdraw(tickets, ticket, 1, 30, "another account");
        withdraw(tickets, guessed, 0, 30, "a guessed ticket");
        printf("the bank's balances: %ld and %ld\n", balances[0], balances[1]);
        r = fencepost_close(client);
    }
    if (r != FENCEPOST_OK)
        fprintf(stderr, "%s: %s\n", fencepost_result_name(r), fencepost_detail());
    fencepost_idempotency_free(tickets);
    fencepost_client_free(client);
    return r == FENCEPOST_OK ? 0 : 1;
}
