using System.Text;
using System.Text.Json;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.Generators.Tests.Infrastructure;
using QuickSilver.Serialization.Dynamic;
using QuickSilver.Serialization.Generated;

namespace QuickSilver.Generators.Tests;

// Payloads of generated codecs, read and written by their schema alone.
public sealed class DynamicPayloadTests
{
    [Fact]
    public void A_payload_that_becomes_json_and_a_payload_again_is_the_same_value()
    {
        Holds(Values.Times);
        Holds(Values.Converted);
        Holds(Values.Sets);
        Holds(Values.Optionals);
        Holds(Values.Maps);
        Holds(Values.Trees);
        Holds(Values.Collections);
    }

    [Fact]
    public void Fields_have_the_names_of_their_members()
    {
        var tree = new Tree { Name = "root", Children = { new Tree { Name = "leaf" } } };
        Assert.Equal("""{"Name":"root","Children":[{"Name":"leaf"}]}""", Json(tree));
    }

    private static void Holds<T>(Arbitrary<T> values) => Prop.ForAll(values, value =>
    {
        Assert.True(GeneratedCodecs.TryGet<T>(out var codec));
        string json = Json(value);
        using var document = JsonDocument.Parse(json, JsonToPayload.DocumentOptions);
        var again = Codecs.Decode<T>(new JsonToPayload(new DynamicSchema(codec.Schema)).Convert(document.RootElement));
        // The bits of a NaN are not kept.
        Assert.True(json.Contains("NaN", StringComparison.Ordinal) || Codecs.Encode(value).AsSpan().SequenceEqual(Codecs.Encode(again)));
        Assert.Equal(json, Json(again));
    }).QuickCheckThrowOnFailure();

    private static string Json<T>(T value)
    {
        Assert.True(GeneratedCodecs.TryGet<T>(out var codec));
        using var reader = new PayloadToJson(new DynamicSchema(codec.Schema));
        return Encoding.UTF8.GetString(reader.Convert(Codecs.Encode(value)).Span);
    }
}
