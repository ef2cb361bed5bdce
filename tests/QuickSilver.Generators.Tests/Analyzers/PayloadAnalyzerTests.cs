using QuickSilver.Generators.Tests.Infrastructure;

namespace QuickSilver.Generators.Tests.Analyzers;

public sealed class PayloadAnalyzerTests
{
    private const string Mark = "[DataContract] and its members [DataMember(Order = n)]";

    // What the analyzer knows of the public API: this project does not reference it.
    private const string Api = """
        using System.Threading.Tasks;
        using QuickSilver.Serialization;

        namespace QuickSilver
        {
            public record TopicOptions { public int ReaderCapacity { get; init; } }
            public record TopicOptions<T> : TopicOptions { public IPayloadCodec<T>? Codec { get; init; } }
            public record StateOptions;
            public record StateOptions<TKey, TValue> : StateOptions;
            public record PrefixOptions<T> { public TopicOptions? Topic { get; init; } }

            public sealed class QuickSilverNode
            {
                public Task OpenTopicAsync<T>(string name, TopicOptions? options = null) => Task.CompletedTask;
                public Task OpenSubscriberAsync<T>(string name) => Task.CompletedTask;
                public Task OpenPrefixAsync<T>(
                    string prefix, Func<string, T, Task> handler, PrefixOptions<T>? options = null) => Task.CompletedTask;
                public void ReadAllAsync<T>(string name) { }
                public Task OpenStateAsync<TKey, TValue>(string name) => Task.CompletedTask;
            }
        }

        namespace QuickSilver.Hosting
        {
            public sealed class QuickSilverBuilder
            {
                public void AddTopic<T>(string name, TopicOptions? options = null) { }
                public void AddConsumer<T, TConsumer>(string name) { }
                public void AddPrefix<T, TConsumer>(string prefix) { }
                public void AddRequester<TRequest, TReply>(string name) { }
                public void AddResponder<TRequest, TReply, THandler>(string name) { }
                public void AddState<TKey, TValue>(string name, StateOptions? options = null) { }
            }
        }

        class Plain { }
        [DataContract] sealed record Marked([property: DataMember(Order = 1)] int X);
        class Other { public void AddTopic<T>(string name) { } }
        static class C
        {
            static void M<TAny>(
                QuickSilver.QuickSilverNode node, QuickSilver.Hosting.QuickSilverBuilder host, Other other,
                QuickSilver.TopicOptions<Plain> options, QuickSilver.PrefixOptions<Plain> prefix) => 
        """;

    [Theory]
    [InlineData("node.OpenTopicAsync<Plain>(\"a\");", "Plain", $"mark 'Plain' {Mark}")]
    [InlineData("node.OpenTopicAsync<Plain>(\"a\", new QuickSilver.TopicOptions());", "Plain", $"mark 'Plain' {Mark}")]
    [InlineData("node.OpenPrefixAsync<Plain>(\"a\", null!, new QuickSilver.PrefixOptions<Plain>());", "Plain", $"mark 'Plain' {Mark}")]
    [InlineData("node.OpenSubscriberAsync<System.Version>(\"a\");", "System.Version", "send a [DataContract] type that has it as a member")]
    [InlineData("node.OpenTopicAsync<int>(\"a\");", "int", "send a [DataContract] type that has it as a member")]
    [InlineData("node.OpenTopicAsync<int[]>(\"a\");", "int[]", "send a [DataContract] type that has it as a member")]
    [InlineData("node.OpenPrefixAsync<Plain>(\"a\", null!);", "Plain", $"mark 'Plain' {Mark}")]
    [InlineData("node.ReadAllAsync<Plain>(\"a\");", "Plain", $"mark 'Plain' {Mark}")]
    [InlineData("node.OpenStateAsync<string, Plain>(\"a\");", "Plain", $"mark 'Plain' {Mark}")]
    [InlineData("node.OpenStateAsync<int, string>(\"a\");", "int", "send a [DataContract] type that has it as a member")]
    [InlineData("host.AddTopic<Plain>(\"a\");", "Plain", $"mark 'Plain' {Mark}")]
    [InlineData("host.AddConsumer<Plain, Other>(\"a\");", "Plain", $"mark 'Plain' {Mark}")]
    [InlineData("host.AddPrefix<Plain, Other>(\"a\");", "Plain", $"mark 'Plain' {Mark}")]
    [InlineData("host.AddRequester<string, Plain>(\"a\");", "Plain", $"mark 'Plain' {Mark}")]
    [InlineData("host.AddResponder<Plain, string, Other>(\"a\");", "Plain", $"mark 'Plain' {Mark}")]
    [InlineData("host.AddState<string, decimal>(\"a\");", "decimal", "send a [DataContract] type that has it as a member")]
    public async Task QS0012_names_the_type_and_what_to_do(string call, string type, string advice) => Assert.Equal(
        [$"QS0012: '{type}' has no codec: {advice}, or pass options with an IPayloadCodec of it"],
        await ReportsAsync(call));

    // Calls of a host are a chain, of which each begins where the chain does.
    [Theory]
    [InlineData("node.OpenTopicAsync<Plain>(\"a\");", "OpenTopicAsync<Plain>")]
    [InlineData("host.AddState<string, decimal>(\"a\");", "AddState<string, decimal>")]
    public async Task QS0012_marks_the_call_by_its_name(string call, string marked) =>
        Assert.Equal([marked], await Driver.MarkAsync(Driver.Compile($"{Api}{call} }}")));

    [Theory]
    [InlineData("node.OpenTopicAsync<Marked>(\"a\");")]
    [InlineData("node.OpenTopicAsync<string>(\"a\");")]
    [InlineData("node.OpenTopicAsync<byte[]>(\"a\");")]
    [InlineData("node.OpenTopicAsync<ReadOnlyMemory<byte>>(\"a\");")]
    [InlineData("node.OpenTopicAsync<TAny>(\"a\");")]
    [InlineData("node.OpenTopicAsync<Plain>(\"a\", options);")]
    [InlineData("node.OpenTopicAsync<Plain>(\"a\", options with { ReaderCapacity = 1 });")]
    [InlineData("node.OpenTopicAsync<Plain>(\"a\", new QuickSilver.TopicOptions<Plain>());")]
    [InlineData("node.OpenPrefixAsync<Plain>(\"a\", null!, prefix);")]
    [InlineData("node.OpenPrefixAsync<Plain>(\"a\", null!, new QuickSilver.PrefixOptions<Plain> { Topic = options });")]
    [InlineData("host.AddTopic<Plain>(\"a\", options);")]
    [InlineData("host.AddTopic<Plain>(\"a\", options: options);")]
    [InlineData("host.AddState<string, Plain>(\"a\", new QuickSilver.StateOptions<string, Plain>());")]
    [InlineData("other.AddTopic<Plain>(\"a\");")]
    public async Task Types_with_a_codec_and_other_calls_are_not_reported(string call) => Assert.Empty(await ReportsAsync(call));

    private static Task<IReadOnlyList<string>> ReportsAsync(string call) => Driver.AnalyzeAsync(Driver.Compile($"{Api}{call} }}"));
}
