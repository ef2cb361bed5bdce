using QuickSilver.Generators.Tests.Infrastructure;

namespace QuickSilver.Generators.Tests.Analyzers;

public sealed class HandlerAnalyzerTests
{
    // What the analyzer knows of the public API: this project does not reference it.
    private const string Api = """
        namespace QuickSilver
        {
            public readonly record struct Message<T>(T Value);
            public delegate void MessageHandler<T>(in Message<T> message);
            public interface ITopicSubscriber<T>
            {
                IDisposable SubscribeInline(MessageHandler<T> handler, Action<int>? onGap = null);
            }
            public interface ITopic<T> : ITopicSubscriber<T>;
        }

        static class C
        {
            static System.Threading.Tasks.Task SaveAsync(string text) => System.Threading.Tasks.Task.CompletedTask;
            static async void Async(QuickSilver.Message<string> message) => await SaveAsync(message.Value);
            static void Plain(in QuickSilver.Message<string> message) { }
            static void M(QuickSilver.ITopic<string> topic, C2 other) => 
        """;

    [Theory]
    [InlineData("topic.SubscribeInline(async (in message) => await SaveAsync(message.Value));", "is async")]
    [InlineData("topic.SubscribeInline(async message => await SaveAsync(message.Value));", "is async")]
    [InlineData("topic.SubscribeInline(handler: async (in message) => { await SaveAsync(message.Value); });", "is async")]
    [InlineData("topic.SubscribeInline(onGap: _ => { }, handler: async delegate { await SaveAsync(\"\"); });", "is async")]
    [InlineData("topic.SubscribeInline(Async);", "is async")]
    [InlineData("topic.SubscribeInline((in message) => SaveAsync(message.Value));", "drops a task, whose exception is lost")]
    [InlineData("topic.SubscribeInline((in message) => { SaveAsync(message.Value); });", "drops a task, whose exception is lost")]
    public async Task QS0011_names_what_may_wait(string call, string what)
    {
        string report = Assert.Single(await ReportsAsync(call));
        Assert.StartsWith($"QS0011: The handler {what}, and runs on the node's core thread", report);
        Assert.EndsWith("use Subscribe(async (message, stop) => ...), which may", report);
    }

    [Theory]
    [InlineData("topic.SubscribeInline((in message) => Console.WriteLine(message.Value));")]
    [InlineData("topic.SubscribeInline((in message) => _ = SaveAsync(message.Value));")]
    [InlineData("topic.SubscribeInline(Plain);")]
    [InlineData("topic.SubscribeInline(Plain, onGap: async gap => await SaveAsync(\"\"));")]
    [InlineData("other.SubscribeInline(async () => await SaveAsync(\"\"));")]
    public async Task Handlers_that_do_not_wait_and_other_calls_are_not_reported(string call) => Assert.Empty(await ReportsAsync(call));

    private static Task<IReadOnlyList<string>> ReportsAsync(string call) => Driver.AnalyzeAsync(
        Driver.Compile($"{Api}{call} }} class C2 {{ public void SubscribeInline(Func<System.Threading.Tasks.Task> any) {{ }} }}"));
}
