using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using QuickSilver.Hosting.Consumption;
using QuickSilver.Hosting.Patterns;
using QuickSilver.Topics;
using QuickSilver.Topics.Declarations;

namespace QuickSilver.Hosting;

// Requests and states, which are opened with the node as topics are.
public sealed partial class QuickSilverBuilder
{
    /// <summary>
    /// Adds a requester. Inject <see cref="IRequester{TRequest, TReply}"/>, with <c>[FromKeyedServices(name)]</c> if several have the same
    /// types. It can be used immediately: a request waits within its deadline until the node has joined. The host owns it, so do not
    /// dispose it where it is injected.
    /// </summary>
    /// <typeparam name="TRequest">The type of the requests.</typeparam>
    /// <typeparam name="TReply">The type of the answers.</typeparam>
    /// <param name="name">The name, which requesters and responders have in common.</param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <exception cref="ArgumentException">The name is invalid, or the requester was already added.</exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    public QuickSilverBuilder AddRequester<TRequest, TReply>(string name, RequesterOptions? options = null)
    {
        TopicName.Check(name);
        options = options?.Copy() ?? new RequesterOptions();
        OptionRules.Check(options);
        CodecOptions.Check<TRequest, TReply>(options);
        return AddShared(
            name,
            "Requester",
            $"the types {typeof(TRequest)} and {typeof(TReply)}",
            _ => new HostedRequester<TRequest, TReply>(name, options),
            typeof(IRequester<TRequest, TReply>));
    }

    /// <summary>
    /// Adds a responder: a service that answers the requests of a name. It is registered as a scoped service, unless it is registered
    /// already. When the host stops, it takes no more requests, and has a second to answer those that it has taken. If it stops because of
    /// an error, the check <see cref="QuickSilverServiceCollectionExtensions.ReadyCheck"/> fails and names it.
    /// </summary>
    /// <typeparam name="TRequest">The type of the requests.</typeparam>
    /// <typeparam name="TReply">The type of the answers.</typeparam>
    /// <typeparam name="THandler">The service.</typeparam>
    /// <param name="name">The name, which requesters and responders have in common.</param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <param name="scope">For what a handler is created. Default: for each request.</param>
    /// <exception cref="ArgumentException">The name is invalid.</exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    public QuickSilverBuilder AddResponder<
        TRequest, TReply, [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] THandler>(
        string name,
        ResponderOptions? options = null,
        ConsumerScope scope = ConsumerScope.Message)
        where THandler : class, IRequestHandler<TRequest, TReply>
    {
        TopicName.Check(name);
        options = options?.Copy() ?? new ResponderOptions();
        OptionRules.Check(options);
        CodecOptions.Check<TRequest, TReply>(options);
        Check(scope);
        Services.TryAddScoped<THandler>();
        Services.AddKeyedSingleton<IHostedTopic>(Node, (provider, _) => new HostedResponder<TRequest, TReply, THandler>(
            name, options, scope, provider.GetRequiredService<IServiceScopeFactory>()));
        return this;
    }

    /// <summary>
    /// Adds a state: the last value of each key. Inject <see cref="IState{TKey, TValue}"/>, with <c>[FromKeyedServices(name)]</c> if
    /// several have the same types. It is empty until the node has joined and has what the others have
    /// (<see cref="IState{TKey, TValue}.IsComplete"/>); changes wait until then. If the node is expelled, the state keeps its values until
    /// the next node has joined, and then has those of the others. The host owns it, so do not dispose it where it is injected.
    /// </summary>
    /// <typeparam name="TKey">The type of the keys.</typeparam>
    /// <typeparam name="TValue">The type of the values.</typeparam>
    /// <param name="name">The name, which all nodes that hold the state have in common.</param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <exception cref="ArgumentException">The name is invalid, or the state was already added.</exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    public QuickSilverBuilder AddState<TKey, TValue>(string name, StateOptions? options = null)
        where TKey : notnull
    {
        TopicName.Check(name);
        options = options?.Copy() ?? new StateOptions();
        OptionRules.Check(options);
        CodecOptions.Check<TKey, TValue>(options);
        return AddShared(
            name,
            "State",
            $"the types {typeof(TKey)} and {typeof(TValue)}",
            _ => new HostedState<TKey, TValue>(name, options),
            typeof(IState<TKey, TValue>));
    }

    /// <summary>
    /// Adds a consumer of all topics whose names begin so: those that are published, and those to come. It is called as one that is
    /// added with <see cref="AddConsumer{T, TConsumer}(string, ConsumerOptions{T}?, ConsumerScope, TopicOptions?)"/>, in order for each
    /// topic, and for several topics at the same time. <see cref="Message{T}.Topic"/> is the topic of a message. When the
    /// host stops, it handles what it has taken, up to <see cref="QuickSilverHostingOptions.ConsumerLimit"/>.
    /// </summary>
    /// <remarks>
    /// <see cref="IConsumer{T}.OnEnded"/> is called for each topic that ends. A topic whose consumer has stopped because of an error fails
    /// the check <see cref="QuickSilverServiceCollectionExtensions.ReadyCheck"/>, until it is opened again. A topic of another type does
    /// not: it is refused, as <see cref="PrefixOptions{T}.OnTopic"/> and the log say.
    /// </remarks>
    /// <typeparam name="T">The payload type of the topics.</typeparam>
    /// <typeparam name="TConsumer">The consumer.</typeparam>
    /// <param name="prefix">What the names begin with: 1 to 255 characters, such as <c>prices/</c>.</param>
    /// <param name="options">
    /// The options of the prefix, its topics and their consumers. Null: the defaults. Their callbacks are called before the methods of the
    /// consumer.
    /// </param>
    /// <param name="scope">For what a consumer is created. Default: for each message.</param>
    /// <exception cref="ArgumentException">The prefix is invalid.</exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    public QuickSilverBuilder AddPrefix<
        T, [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] TConsumer>(
        string prefix,
        PrefixOptions<T>? options = null,
        ConsumerScope scope = ConsumerScope.Message)
        where TConsumer : class, IConsumer<T>
    {
        TopicName.CheckPrefix(prefix);
        options = options?.Copy() ?? new PrefixOptions<T>();
        OptionRules.Check(options);
        DeclaredTopic.Apply<T>(options.Topic);
        CodecOptions.Check<T>(options.Topic);
        Check(scope);
        Services.TryAddScoped<TConsumer>();
        Services.AddKeyedSingleton<IHostedTopic>(Node, (provider, _) =>
        {
            var scopes = provider.GetRequiredService<IServiceScopeFactory>();
            var consumer = new ScopedConsumer<T, TConsumer>(scopes, scope, options.Consumer);
            return new HostedPrefix<T, TConsumer>(prefix, options, consumer);
        });
        return this;
    }
}
