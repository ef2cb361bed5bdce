using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Contracts;

public sealed class ContractMatchTests
{
    private static string? Difference(ContractDescription open, ContractDescription asked)
    {
        Assert.Null(ContractLimits.Problem("T", open));
        Assert.Null(ContractLimits.Problem("T", asked));
        return ContractMatch.Difference("T", open, asked);
    }

    private static ContractDescription Flat(params ContractField[] fields) => Requests.Departure(fields);

    private static ContractField Held(int number, string name, int message, string type = "message") =>
        new(number, name, type) { Message = message };

    [Fact]
    public void Added_removed_and_renamed_fields_are_compatible()
    {
        Assert.Null(Difference(Flat(new ContractField(1, "A", "string")), Flat(new(1, "B", "string"), new(2, "C", "int32"))));
        Assert.Null(Difference(Flat(new(1, "B", "string"), new(2, "C", "int32")), Flat(new ContractField(2, "C", "int32"))));
    }

    [Fact]
    public void Types_that_share_no_field_are_refused_with_the_fields_of_both()
    {
        var count = Flat(new ContractField(1, "A", "int32"));
        var named = Flat(new(2, "Name", "string"), new(3, "X", "int32")) with { TypeName = "Other" };
        Assert.Equal(
            "Topic 'T' carries Departure(message) with field 1 'A'; this endpoint has Other with fields 2 'Name', 3 'X'."
            + " They share no field number, so each would read the other as empty. Keep at least one field in all versions of a type.",
            Difference(count, named));
        Assert.Contains(
            "Other(message) with fields 2 'Name', 3 'X'; this endpoint has Departure with field 1 'A'.", Difference(named, count));
    }

    [Fact]
    public void A_kind_is_named_once()
    {
        var state = Flat() with { TypeName = "state(string, string)", Kind = "state" };
        var text = Flat() with { TypeName = "string", Kind = "string" };
        Assert.StartsWith(
            "Topic 'T' carries state(string, string); this endpoint has Departure(message).", ContractMatch.Difference("T", state, Flat()));
        Assert.StartsWith("Topic 'T' carries string; this endpoint has state(string, string).", ContractMatch.Difference("T", text, state));
    }

    [Theory]
    [InlineData("state")]
    [InlineData("request")]
    public void A_subscriber_of_any_payload_does_not_get_what_subscribers_have_to_answer(string kind)
    {
        var answered = Flat() with { TypeName = $"{kind}(string, string)", Kind = kind };
        var any = Flat() with { TypeName = "any payload", Kind = ContractDescription.AnyKind };
        Assert.StartsWith(
            $"Topic 'T' carries {kind}(string, string), which subscribers have to answer; ", ContractMatch.Difference("T", answered, any));
        // One that was there before binds the topic to nothing.
        Assert.Null(ContractMatch.Difference("T", any, answered));
        Assert.Null(ContractMatch.Difference("T", Flat(), any));
    }

    [Fact]
    public void A_type_without_fields_matches_any()
    {
        Assert.Null(Difference(Flat(), Flat()));
        Assert.Null(Difference(Flat(), Flat(new ContractField(2, "C", "int32"))));
        Assert.Null(Difference(Flat(new ContractField(2, "C", "int32")), Flat()));
    }

    [Fact]
    public void Messages_within_that_share_no_field_are_refused_by_their_path()
    {
        var open = Requests.Nested("string");
        string? difference = Difference(open, open with
        {
            Nested = [new("Stage", [.. Enumerable.Range(5, 6).Select(number => new ContractField(number, $"S{number}", "int32"))])],
        });
        Assert.StartsWith("Topic 'T' carries Departure(message) with field 2 'Legs' of type ", difference);
        Assert.Contains(
            "Leg, which has fields 1 'From', 2 'Parts'; this endpoint has Stage with fields 5 'S5', 6 'S6', 7 'S7', 8 'S8', ….",
            difference);
        Assert.Null(Difference(open, open with { Nested = [new("Leg", [])] }));
    }

    [Fact]
    public void Equal_field_numbers_in_nested_messages_are_distinguished()
    {
        Assert.Null(Difference(Requests.Nested("string"), Requests.Nested("string")));
        Assert.Null(Difference(Requests.Nested("string"), Requests.Nested("string") with { TypeName = "Other" }));
    }

    [Fact]
    public void A_type_that_differs_within_is_named_by_path_number_and_both_types() => Assert.Equal(
        "Topic 'T' carries Departure(message) with field 2.1 'Legs.From' of type string; this endpoint has type int32.",
        Difference(Requests.Nested("string"), Requests.Nested("int32")));

    [Fact]
    public void A_field_that_was_renamed_and_has_another_type_is_named_with_both_names() => Assert.Equal(
        "Topic 'T' carries Departure(message) with field 2 'Gate' of type int32; this endpoint has it as 'Door' of type string.",
        Difference(Flat(new ContractField(2, "Gate", "int32")), Flat(new ContractField(2, "Door", "string"))));

    [Fact]
    public void A_message_type_may_be_renamed_and_one_in_place_of_a_number_is_named()
    {
        var open = Flat(Held(1, "Leg", 1)) with { Nested = [new("Leg", [new(1, "From", "string")])] };
        var renamed = Flat(Held(1, "Leg", 1)) with { Nested = [new("Stage", [new(1, "From", "string"), new(2, "To", "string")])] };
        Assert.Null(Difference(open, renamed));
        Assert.Equal(
            "Topic 'T' carries Departure(message) with field 1 'Leg' of type Leg; this endpoint has type string.",
            Difference(open, Flat(new ContractField(1, "Leg", "string"))));
        Assert.Equal(
            "Topic 'T' carries Departure(message) with field 1 'Leg' of type Leg; this endpoint has type repeated Stage.",
            Difference(open, Flat(Held(1, "Leg", 1, "repeated message")) with { Nested = renamed.Nested }));
    }

    [Fact]
    public void A_field_that_has_another_number_is_named_with_both()
    {
        Assert.Equal(
            "Topic 'T' carries Departure(message) with field 2 'Gate' of type string; this endpoint has it as field 3 of type string."
            + " Keep the number of an existing field, and give a new field another name.",
            Difference(
                Flat(new(1, "Flight", "string"), new(2, "Gate", "string")),
                Flat(new(1, "Flight", "string"), new(3, "Gate", "string"))));
        Assert.Contains(
            "field 2.1 'Legs.From' of type string; this endpoint has it as field 2.3 of type string",
            Difference(
                Requests.Nested("string"),
                Requests.Nested("string") with { Nested = [new("Leg", [new(3, "From", "string")])] }));
    }

    [Fact]
    public void Two_fields_that_changed_places_are_a_mismatch() => Assert.NotNull(Difference(
        Flat(new(1, "Flight", "string"), new(2, "Gate", "string")),
        Flat(new(1, "Gate", "string"), new(2, "Flight", "string"))));

    [Fact]
    public void A_name_may_come_again_with_another_number_and_another_type() => Assert.Null(Difference(
        Flat(new(1, "Flight", "string"), new(2, "Gate", "int32")),
        Flat(new(1, "Flight", "string"), new(3, "Gate", "string"))));

    [Fact]
    public void A_type_that_holds_itself_matches_one_that_is_written_out()
    {
        // A tree, and a tree whose children are another type of the same fields, which holds trees again.
        var tree = Flat(new(1, "Name", "string"), Held(2, "Children", 0));
        var twoTypes = tree with
        {
            Fields = [new(1, "Name", "string"), Held(2, "Children", 1)],
            Nested = [new("Branch", [new(1, "Name", "string"), Held(2, "Children", 0)])],
        };
        Assert.Null(Difference(tree, twoTypes));
        Assert.Null(Difference(twoTypes, tree));
        var differs = twoTypes with { Nested = [new("Branch", [new(1, "Name", "int32"), Held(2, "Children", 0)])] };
        Assert.Contains("field 2.1 'Children.Name' of type string; this endpoint has type int32", Difference(tree, differs));
        Assert.Contains("field 2.1 'Children.Name' of type int32; this endpoint has type string", Difference(differs, tree));
    }

    [Fact]
    public void A_deep_difference_is_named_by_the_end_of_its_path_within_the_limit_of_a_reply()
    {
        string name = new('n', 1000);
        ContractDescription Chain(string type) => Flat(Held(1, "Next", 1)) with
        {
            TypeName = name,
            Nested = [.. Enumerable.Range(1, 100).Select(at => new ContractMessage(
                "Link", at < 100 ? [Held(at, name, at + 1)] : [new ContractField(7, "End", type)]))],
        };
        string difference = Difference(Chain("string"), Chain("int32"))!;
        Assert.Contains("….", difference);
        Assert.Contains(".98.99.7 '", difference);
        Assert.Contains(".End' of type string; this endpoint has type int32.", difference);
        Assert.InRange(difference.Length, 1, 4096);
    }
}
