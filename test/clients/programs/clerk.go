// Signs in, lists who owes, records what was received, and reads it back: with a generated client as it is.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"

	"example.test/clerk/duebook"
	"github.com/google/uuid"
	openapi_types "github.com/oapi-codegen/runtime/types"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	client, err := duebook.NewClientWithResponses(os.Getenv("API"))
	if err != nil {
		return err
	}
	login, err := client.LoginWithResponse(ctx, duebook.Credentials{
		TenantSlug: os.Getenv("TENANT"),
		Email:      openapi_types.Email(os.Getenv("EMAIL")),
		Password:   os.Getenv("PASSWORD"),
	})
	if err != nil {
		return err
	}
	if login.JSON200 == nil {
		return fmt.Errorf("%s", login.Body)
	}
	session, err := login.JSON200.AsAuthLoginResult()
	if err != nil {
		return err
	}
	bearer := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+session.AccessToken)
		return nil
	}

	tab := duebook.ListPaymentsParamsTabOverdue
	owed, err := client.ListPaymentsWithResponse(ctx, &duebook.ListPaymentsParams{Tab: &tab}, bearer)
	if err != nil {
		return err
	}
	if owed.JSON200 == nil || len(owed.JSON200.Items) == 0 {
		return fmt.Errorf("nobody owes: %s", owed.Body)
	}
	line := owed.JSON200.Items[0]
	id, err := uuid.Parse(line.Id)
	if err != nil {
		return err
	}

	amount, err := strconv.ParseFloat(os.Getenv("AMOUNT"), 64)
	if err != nil {
		return err
	}
	recorded, err := client.RecordReceiptWithResponse(ctx, id, nil, duebook.ReceiptPatch{ReceivedAmount: &amount}, bearer)
	if err != nil {
		return err
	}
	if recorded.JSON200 == nil {
		return fmt.Errorf("%s", recorded.Body)
	}
	receipts, err := client.ListReceiptsWithResponse(ctx, id, nil, bearer)
	if err != nil {
		return err
	}
	if receipts.JSON200 == nil {
		return fmt.Errorf("%s", receipts.Body)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"owed":     line.OutstandingAmount,
		"received": recorded.JSON200.ReceivedAmount,
		"receipt":  receipts.JSON200.Items[0].Delta,
	})
}
