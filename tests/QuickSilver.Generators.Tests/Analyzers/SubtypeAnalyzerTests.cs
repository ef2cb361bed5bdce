using QuickSilver.Generators.Tests.Infrastructure;

namespace QuickSilver.Generators.Tests.Analyzers;

// What is reported of declared subtypes, and of null payloads.
public sealed class SubtypeAnalyzerTests
{
    private const string Sound = """
        [DataContract] sealed record A([property: DataMember(Order = 1)] int X) : IBase;
        [DataContract] sealed record B([property: DataMember(Order = 1)] int X) : IBase;
        sealed class Plain : IBase { }
        abstract class Between : IBase { }
        [DataContract] sealed record Other([property: DataMember(Order = 1)] int X);
        """;

    // What the analyzer knows of the public API: this project does not reference it.
    private const string Api = """
        namespace QuickSilver
        {
            public interface ITopicPublisher<T> { void PublishAsync(T value, int more = 0); void PublishAsync(in T value); }
            public interface IState<TKey, TValue> { void SetAsync(TKey key, TValue value, object? other = null); }
        }

        namespace QuickSilver.Feeds
        {
            public interface IFeedWriter<T> { void Write(in T value); }
        }

        static class C
        {
            static void M<TAny>(
                QuickSilver.ITopicPublisher<string> topic, QuickSilver.IState<string, int[]> state, QuickSilver.ITopicPublisher<TAny> any,
                string? maybe, QuickSilver.ITopicPublisher<int> numbers, QuickSilver.Feeds.IFeedWriter<string> writer) => 
        """;

    [Theory]
    [InlineData("1, typeof(A)", "1, typeof(B)", "B", "'A' has the same number 1; give it one that was never used in this type")]
    [InlineData("1, typeof(A)", "2, typeof(A)", "A", "it is declared twice")]
    [InlineData("1, typeof(A)", "0, typeof(B)", "B", "its number is 0; use 1 to 536870911, except 19000 to 19999, which protobuf reserves")]
    [InlineData("1, typeof(A)", "19000, typeof(B)", "B",
        "its number is 19000; use 1 to 536870911, except 19000 to 19999, which protobuf reserves")]
    [InlineData("1, typeof(A)", "2, typeof(Other)", "Other", "it does not implement 'IBase'")]
    [InlineData("1, typeof(A)", "2, typeof(Plain)", "Plain", "mark it [DataContract] and its members [DataMember(Order = n)]")]
    [InlineData("1, typeof(A)", "2, typeof(Between)", "Between", "it is abstract or has subtypes of its own; declare those here")]
    [InlineData("1, typeof(A)", "2, typeof(List<A>)", "List", "it is generic, and has no single schema")]
    public async Task QS0013_names_the_subtype_and_what_is_wrong(string one, string other, string subtype, string reason) => Assert.Equal(
        [$"QS0013: 'IBase' declares the subtype '{subtype}', which cannot be one: {reason}"],
        await ReportsAsync($$"""
            using QuickSilver.Serialization;
            [Subtype({{one}})] [Subtype({{other}})] interface IBase;
            {{Sound}}
            """));

    [Fact]
    public async Task QS0014_asks_for_an_abstract_type() => Assert.Equal(
        [
            "QS0014: 'Base' declares subtypes and is not abstract, so a value may be none of them: make it abstract, and what it is now a "
                + "subtype",
        ],
        await ReportsAsync("""
            using QuickSilver.Serialization;
            [Subtype(1, typeof(A))] record Base([property: DataMember(Order = 1)] int X);
            [DataContract] sealed record A(int X) : Base(X);
            """));

    [Fact]
    public async Task A_number_of_a_base_that_a_subtype_uses_again_is_reported() => Assert.Contains(
        "QS0003",
        Assert.Single(await ReportsAsync("""
            using QuickSilver.Serialization;
            [Subtype(1, typeof(A))] abstract record Base([property: DataMember(Order = 1)] int X);
            [DataContract] sealed record A(int X, [property: DataMember(Order = 1)] int Y) : Base(X);
            """)));

    [Fact]
    public async Task An_interface_without_subtypes_is_asked_to_declare_them() => Assert.Contains(
        "declare the subtypes of 'IBase' with [Subtype(n, typeof(S))]",
        Assert.Single(await ReportsAsync("""
            interface IBase;
            [DataContract] sealed class C { [DataMember(Order = 1)] public IBase? X { get; set; } }
            """)));

    [Theory]
    [InlineData("writer.Write(null!);", "Write")]
    [InlineData("topic.PublishAsync(null!);", "PublishAsync")]
    [InlineData("topic.PublishAsync(default!);", "PublishAsync")]
    [InlineData("topic.PublishAsync((string)null!, 5);", "PublishAsync")]
    [InlineData("state.SetAsync(\"a\", null!);", "SetAsync")]
    [InlineData("state.SetAsync(null!, [1]);", "SetAsync")]
    public async Task QS0015_names_the_call_that_publishes_null(string call, string method) => Assert.Equal(
        [
            $"QS0015: '{method}' is called with null, which is no payload, and throws an ArgumentNullException: send an empty value, or a "
                + "type that has the absence as a member",
        ],
        await ReportsAsync($"{Api}{call} }}"));

    [Theory]
    [InlineData("topic.PublishAsync(\"\");")]
    [InlineData("topic.PublishAsync(maybe!);")]
    [InlineData("any.PublishAsync(default!);")]
    [InlineData("numbers.PublishAsync(default);")]
    [InlineData("state.SetAsync(\"a\", [1], null);")]
    public async Task Calls_with_a_value_are_not_reported(string call) => Assert.Empty(await ReportsAsync($"{Api}{call} }}"));

    private static Task<IReadOnlyList<string>> ReportsAsync(string source) => Driver.AnalyzeAsync(Driver.Compile(source));
}
