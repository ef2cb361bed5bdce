using System.Reflection;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Options;

public sealed class OptionCopyTests
{
    public static TheoryData<Type> Types => [.. OptionFilling.Types];

    [Theory]
    [MemberData(nameof(Types))]
    public void A_copy_has_each_value_and_keeps_it_when_the_original_changes(Type type)
    {
        object original = OptionFilling.Fill(Activator.CreateInstance(type)!);
        var defaults = OptionFilling.Read(Activator.CreateInstance(type)!).ToDictionary();
        var values = OptionFilling.Read(original).ToList();
        Assert.NotEmpty(values);
        Assert.All(values, one => Assert.NotEqual(defaults.GetValueOrDefault(one.Key), one.Value));

        object copy = CopyOf(original);
        Assert.Equal(type, copy.GetType());
        Assert.Equal(values, OptionFilling.Read(copy));

        OptionFilling.Spoil(original);
        Assert.NotEqual(values, OptionFilling.Read(original));
        Assert.Equal(values, OptionFilling.Read(copy));
    }

    [Theory]
    [InlineData(typeof(TopicOptions), typeof(TopicOptions<string>))]
    [InlineData(typeof(RequesterOptions), typeof(RequesterOptions<string, string>))]
    [InlineData(typeof(ResponderOptions), typeof(ResponderOptions<string, string>))]
    [InlineData(typeof(StateOptions), typeof(StateOptions<string, string>))]
    public void Options_with_codecs_take_each_value_of_others(Type plain, Type typed)
    {
        object original = OptionFilling.Fill(Activator.CreateInstance(plain)!);
        var values = OptionFilling.Read(original).ToList();
        var taken = OptionFilling.Read(Activator.CreateInstance(typed, original)!).ToList();
        Assert.Equal(values, taken.Where(one => values.Exists(value => value.Key == one.Key)));
        var missing = Assert.Throws<TargetInvocationException>(() => typed.GetConstructor([plain])!.Invoke([null]));
        Assert.IsType<ArgumentNullException>(missing.InnerException);
    }

    [Fact]
    public void No_options_promise_a_copy_or_an_equality_that_lists_and_callbacks_would_break() => Assert.All(
        OptionFilling.Types,
        static type =>
        {
            Assert.Null(type.GetMethod("<Clone>$"));
            Assert.Equal(typeof(object), type.GetMethod(nameof(Equals), [typeof(object)])!.DeclaringType);
        });

    [Fact]
    public async Task A_node_and_its_endpoints_keep_the_options_with_which_they_were_opened()
    {
        var nodeOptions = new QuickSilverOptions { Name = "first" };
        await using var node = await Spoiled(nodeOptions, one => new InMemoryNetwork().StartNodeAsync(one)).OrFail();
        Assert.Equal("first", node.NameOf(node.Id));

        await using var topic = await Spoiled(new TopicOptions(), one => node.OpenTopicAsync<string>("topic", one)).OrFail();
        var handled = new TaskCompletionSource<string>();
        var consumer = new ConsumerOptions<string>();
        topic.Subscribe(
            (message, _) =>
            {
                handled.TrySetResult(message.Value);
                return default;
            },
            consumer);
        OptionFilling.Spoil(consumer);
        var followed = new TaskCompletionSource<string>();
        await using var prefix = await Spoiled(new PrefixOptions<string>(), one => node.OpenPrefixAsync<string>(
            "to",
            (_, message, _) =>
            {
                followed.TrySetResult(message.Value);
                return default;
            },
            one)).OrFail();
        await topic.WaitForSubscribersAsync(1).OrFail();
        await topic.PublishAsync("message").OrFail();
        Assert.Equal("message", await handled.Task.OrFail());
        Assert.Equal("message", await followed.Task.OrFail());

        await using var responder = await Spoiled(
            new ResponderOptions(),
            one => node.OpenResponderAsync<string, string>("ask", (request, _) => new(request.Value + "!"), one)).OrFail();
        await using var requester = await Spoiled(
            new RequesterOptions(), one => node.OpenRequesterAsync<string, string>("ask", one)).OrFail();
        Assert.Equal("hello!", await requester.AskAsync("hello").OrFail());

        await using var state = await Spoiled(new StateOptions(), one => node.OpenStateAsync<string, string>("state", one)).OrFail();
        await state.SetAsync("key", "value").AsTask().OrFail();
        Assert.True(state.TryGet("key", out string? value));
        Assert.Equal("value", value);
    }

    [Fact]
    public async Task A_node_on_the_machine_keeps_the_options_with_which_it_was_started()
    {
        var options = new QuickSilverOptions
        {
            Name = "first",
            Cluster = $"copy {Guid.NewGuid():N}",
            Membership = { Mode = MembershipMode.Host },
        };
        await using var node = await Spoiled(options, static one => QuickSilverNode.StartAsync(one)).OrFail();
        Assert.Equal("first", node.NameOf(node.Id));
    }

    // The copy is taken before the first wait.
    private static Task<T> Spoiled<TOptions, T>(TOptions options, Func<TOptions, Task<T>> open)
        where TOptions : class
    {
        var opening = open(options);
        OptionFilling.Spoil(options);
        return opening;
    }

    private static object CopyOf(object options)
    {
        var method = options.GetType().GetMethod("Copy", BindingFlags.Instance | BindingFlags.NonPublic)!;
        return method.Invoke(options, [.. method.GetParameters().Select(static _ => (object?)null)])!;
    }
}
