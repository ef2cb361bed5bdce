using QuickSilver.Generators.Tests.Infrastructure;

namespace QuickSilver.Generators.Tests.Analyzers;

// Topics that payload types declare, and calls that open them.
public sealed class DeclaredTopicTests
{
    private const string BestEffort = "Guarantee = Guarantee.BestEffort";

    // What the analyzers know of the public API: this project does not reference it.
    private const string Api = """
        using System.Threading;
        using System.Threading.Tasks;
        using QuickSilver;
        using QuickSilver.Hosting;
        using QuickSilver.Serialization;

        namespace QuickSilver
        {
            public enum Guarantee { Reliable, BestEffort }

            [System.AttributeUsage(System.AttributeTargets.Class | System.AttributeTargets.Struct | System.AttributeTargets.Interface)]
            public sealed class TopicAttribute(string name) : System.Attribute
            {
                public string Name { get; } = name;
                public Guarantee Guarantee { get; init; }
            }

            public class TopicOptions
            {
                public TopicOptions() { }
                public Guarantee Guarantee { get; set; }
                public int ReaderCapacity { get; set; }
            }

            public class TopicOptions<T> : TopicOptions
            {
                public TopicOptions() { }
                public TopicOptions(TopicOptions options) { }
            }

            public class PrefixOptions<T> { public TopicOptions Topic { get; set; } = new(); }

            public sealed class QuickSilverNode
            {
                public Task OpenTopicAsync<T>(string name, TopicOptions? options = null) => Task.CompletedTask;
                public Task OpenTopicAsync<T>(TopicOptions? options = null) => Task.CompletedTask;
                public void ReadAllAsync<T>(string name, CancellationToken token) { }
                public void ReadAllAsync<T>(CancellationToken token) { }
                public Task OpenPrefixAsync<T>(string prefix, System.Func<T, Task> handler, PrefixOptions<T>? options = null) =>
                    Task.CompletedTask;
            }
        }

        namespace QuickSilver.Hosting
        {
            public sealed class QuickSilverBuilder
            {
                public void AddTopic<T>(string name, TopicOptions? options = null) { }
                public void AddTopic<T>(TopicOptions? options = null) { }
                public void AddConsumer<T, TConsumer>(int scope = 0, TopicOptions? options = null) { }
            }
        }

        """;

    private const string Types = """
        [Topic("orders")] [DataContract] sealed record Order([property: DataMember(Order = 1)] int X);
        [Topic("ticks", Guarantee = Guarantee.BestEffort)] [DataContract] sealed record Tick([property: DataMember(Order = 1)] int X);
        [DataContract] sealed record Plain([property: DataMember(Order = 1)] int X);
        static class C
        {
            static void M<TAny>(QuickSilverNode node, QuickSilverBuilder host, TopicOptions options, Guarantee chosen) =>
                
        """;

    [Theory]
    [InlineData($"node.OpenTopicAsync<Order>(new TopicOptions {{ {BestEffort} }})", "Order", "orders", "Reliable", "BestEffort")]
    [InlineData(
        $"node.OpenTopicAsync<Order>(\"other\", new TopicOptions {{ {BestEffort} }})", "Order", "orders", "Reliable", "BestEffort")]
    [InlineData(
        $"node.OpenTopicAsync<Order>(options: new TopicOptions<Order> {{ ReaderCapacity = 1, {BestEffort} }})",
        "Order", "orders", "Reliable", "BestEffort")]
    [InlineData(
        $"node.OpenTopicAsync<Order>(new TopicOptions<Order>(new TopicOptions {{ {BestEffort} }}))",
        "Order", "orders", "Reliable", "BestEffort")]
    [InlineData("node.OpenTopicAsync<Tick>(new() { Guarantee = Guarantee.Reliable })", "Tick", "ticks", "BestEffort", "Reliable")]
    [InlineData(
        $"node.OpenPrefixAsync<Order>(\"o\", _ => Task.CompletedTask, new() {{ Topic = {{ {BestEffort} }} }})",
        "Order", "orders", "Reliable", "BestEffort")]
    [InlineData($"host.AddTopic<Order>(new TopicOptions {{ {BestEffort} }})", "Order", "orders", "Reliable", "BestEffort")]
    [InlineData($"host.AddConsumer<Order, string>(options: new() {{ {BestEffort} }})", "Order", "orders", "Reliable", "BestEffort")]
    public async Task QS0019_names_both_guarantees(string call, string type, string topic, string declared, string given)
    {
        var compilation = Driver.Compile($"{Api}{Types}{call}; }}");
        Assert.Equal(
            [
                $"QS0019: '{type}' declares the topic '{topic}' with the guarantee {declared}, and these options have {given}: do not set "
                + "the guarantee here, or change the declaration",
            ],
            await Driver.AnalyzeAsync(compilation));
        Assert.Equal([$"Guarantee = Guarantee.{given}"], await Driver.MarkAsync(compilation));
        Assert.DoesNotContain(Driver.Complaints(compilation), static one => one.Contains("error CS", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("node.OpenTopicAsync<Order>()")]
    [InlineData("node.OpenTopicAsync<Order>(new TopicOptions { Guarantee = Guarantee.Reliable })")]
    [InlineData($"node.OpenTopicAsync<Tick>(\"other\", new TopicOptions {{ {BestEffort} }})")]
    [InlineData("node.OpenTopicAsync<Order>(new TopicOptions { Guarantee = chosen })")]
    [InlineData("node.OpenTopicAsync<Order>(options)")]
    [InlineData($"node.OpenTopicAsync<Plain>(\"plain\", new TopicOptions {{ {BestEffort} }})")]
    [InlineData($"node.OpenTopicAsync<TAny>(new TopicOptions {{ {BestEffort} }})")]
    [InlineData(
        $"node.OpenPrefixAsync<Order>(\"o\", _ => node.OpenTopicAsync<Plain>(\"plain\", new() {{ {BestEffort} }}))")]
    public async Task Options_that_agree_or_are_not_known_are_not_reported(string call) =>
        Assert.Empty(await Driver.AnalyzeAsync(Driver.Compile($"{Api}{Types}{call}; }}")));

    [Theory]
    [InlineData("node.OpenTopicAsync<string>()", "string", "OpenTopicAsync")]
    [InlineData("node.OpenTopicAsync<Plain>(new TopicOptions())", "Plain", "OpenTopicAsync")]
    [InlineData("node.ReadAllAsync<Plain>(default(CancellationToken))", "Plain", "ReadAllAsync")]
    [InlineData("host.AddTopic<Plain>()", "Plain", "AddTopic")]
    [InlineData("host.AddConsumer<Plain, string>()", "Plain", "AddConsumer")]
    public async Task QS0023_asks_for_a_name_where_the_type_declares_none(string call, string type, string method) => Assert.Equal(
        [
            $"QS0023: '{type}' declares no topic: pass the name of the topic to {method}, or declare it at the type with [Topic(\"name\")]",
        ],
        await Driver.AnalyzeAsync(Driver.Compile($"{Api}{Types}{call}; }}")));

    [Fact]
    public async Task A_declaration_of_a_referenced_assembly_counts()
    {
        var contracts = Driver.Compile($"{Api}{Types.Replace("sealed record", "public sealed record")} node.ToString(); }}", "Contracts");
        using var image = new MemoryStream();
        Driver.Run(contracts, out var generated);
        Assert.True(generated.Emit(image).Success);
        var consumer = Driver.Compile(
            $$"""
            using QuickSilver;

            static class C
            {
                static void M(QuickSilverNode node) => node.OpenTopicAsync<Tick>(new() { Guarantee = Guarantee.Reliable });
                static void N(QuickSilverNode node) => node.OpenTopicAsync<Tick>();
            }
            """,
            "Consumer",
            Microsoft.CodeAnalysis.MetadataReference.CreateFromImage(image.ToArray()));
        string report = Assert.Single(await Driver.AnalyzeAsync(consumer));
        Assert.StartsWith("QS0019: 'Tick' declares the topic 'ticks' with the guarantee BestEffort", report, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("\"\"", "the topic name has 0 characters. It must have 1 to 255")]
    [InlineData("null!", "it is null")]
    [InlineData("\"a/*\"", "the topic name contains '*' at position 2. ")]
    [InlineData("\"a\\n\"", "the topic name contains the control character U+000A at position 1. Control characters are not allowed")]
    public async Task QS0020_says_what_is_wrong_with_the_name(string name, string fault)
    {
        var compilation = Driver.Compile($"{Api}[Topic({name})] class Order;");
        string report = Assert.Single(await Driver.AnalyzeAsync(compilation));
        Assert.StartsWith($"QS0020: 'Order' declares a topic with an invalid name: {fault}", report, StringComparison.Ordinal);
        Assert.Equal([$"Topic({name})"], await Driver.MarkAsync(compilation));
    }

    [Theory]
    [InlineData(255, 0)]
    [InlineData(256, 1)]
    public async Task QS0020_has_the_limit_of_length_of_the_run_time(int length, int reports)
    {
        string name = new('x', length);
        Assert.Equal(reports, (await Driver.AnalyzeAsync(Driver.Compile($"{Api}[Topic(\"{name}\")] class Order;"))).Count);
    }

    [Theory]
    [InlineData("[Topic(\"a\")] class Box<T>;", "Box", "it is generic, ")]
    [InlineData("class Outer<T> { [Topic(\"a\")] class Box; }", "Box", "it is generic, ")]
    [InlineData("[Topic(\"a\")] interface IOrder;", "IOrder", "it is an interface without [Subtype], ")]
    [InlineData("[Topic(\"a\")] static class Orders;", "Orders", "it is static, ")]
    [InlineData("[Topic(\"a\")] ref struct Order;", "Order", "it is a ref struct, ")]
    public async Task QS0021_says_why_a_type_cannot_declare_a_topic(string source, string type, string reason)
    {
        string report = Assert.Single(await Driver.AnalyzeAsync(Driver.Compile(Api + source)));
        Assert.StartsWith($"QS0021: '{type}' cannot declare a topic: {reason}", report, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("[Topic(\"a\")] struct Order;")]
    [InlineData("[Topic(\"a\")] abstract class Order;")]
    [InlineData(
        "[Topic(\"a\")] [Subtype(1, typeof(Buy))] interface IOrder; "
        + "[DataContract] sealed record Buy([property: DataMember(Order = 1)] int X) : IOrder;")]
    public async Task Payload_types_that_declare_a_topic_are_not_reported(string source) =>
        Assert.Empty(await Driver.AnalyzeAsync(Driver.Compile(Api + source)));

    [Theory]
    [InlineData("", $", {BestEffort}", "int X", "int X", "the guarantees are Reliable and BestEffort")]
    [InlineData("", "", "int X", "string X", "field 1 is 'X' of type int32 in 'A' and 'X' of type string in 'B'")]
    [InlineData("", "", "int X", "int Y, [property: DataMember(Order = 2)] int X", "'X' is field 1 of 'A' and field 2 of 'B'")]
    public async Task QS0022_names_both_types_and_what_differs(string first, string second, string one, string two, string difference) =>
        Assert.Equal(
            [
                "QS0022: 'A' and 'B' declare the topic 'a' differently, and cannot be open at the same time: " + difference,
            ],
            await Driver.AnalyzeAsync(Driver.Compile(
                $"""
                {Api}
                [Topic("a"{first})] [DataContract] sealed record A([property: DataMember(Order = 1)] {one});
                [Topic("a"{second})] [DataContract] sealed record B([property: DataMember(Order = 1)] {two});
                """)));

    [Fact]
    public async Task QS0022_reports_types_without_a_common_field()
    {
        string report = Assert.Single(await Driver.AnalyzeAsync(Driver.Compile(
            $"""
            {Api}
            [Topic("a")] [DataContract] sealed record A([property: DataMember(Order = 1)] int X);
            [Topic("a")] [DataContract] sealed record B([property: DataMember(Order = 2)] int Y);
            """)));
        Assert.EndsWith("they share no field number", report, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("a", "int X, [property: DataMember(Order = 2)] int Y")]
    [InlineData("A", "string X")]
    public async Task Versions_of_a_type_and_topics_with_other_names_are_not_reported(string name, string members) =>
        Assert.Empty(await Driver.AnalyzeAsync(Driver.Compile(
            $"""
            {Api}
            [Topic("a")] [DataContract] sealed record A([property: DataMember(Order = 1)] int X);
            [Topic("{name}")] [DataContract] sealed record B([property: DataMember(Order = 1)] {members});
            """)));
}
