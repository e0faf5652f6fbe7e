"""Withdraws money with a ticket: a token, which the bank issues for one withdrawal from one account.

python examples/withdraw.py
python examples/withdraw.py redis://localhost:6379
python examples/withdraw.py zk://localhost:2181/bank
"""

from __future__ import annotations

import secrets
import sys

import fencepost

#: Stands for the bank's database.
balances = {"account-7": 100, "account-8": 100}


def withdraw(tickets: fencepost.Idempotency, ticket: str, account: str, amount: int) -> int:
    """Withdraws an amount, and returns the new balance. The same ticket withdraws only once."""
    with tickets.consume(ticket, binding=account, fingerprint=str(amount)) as claim:
        if not claim.replayed:
            balances[account] -= amount
            claim.complete(balances[account])
        balance: int = claim.result
    return balance


def main(address: str) -> None:
    """One withdrawal, its repetition, and three requests that are refused."""
    with fencepost.connect(address) as client:
        tickets = client.idempotency("withdrawals")
        # A ticket must be hard to guess. It is valid for one minute, and for this account only.
        ticket = secrets.token_urlsafe()
        tickets.issue(ticket, binding="account-7", life=60)

        print("balance after the withdrawal:", withdraw(tickets, ticket, "account-7", 30))
        print("balance after a repetition:", withdraw(tickets, ticket, "account-7", 30))

        refused = {
            "another amount": (ticket, "account-7", 50),
            "another account": (ticket, "account-8", 30),
            "a guessed ticket": (secrets.token_urlsafe(), "account-7", 30),
        }
        for what, request in refused.items():
            try:
                withdraw(tickets, *request)
            except fencepost.Refused as error:
                print(f"{what}: {error.name}")
        print("the bank's balances:", balances)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "memory:")
