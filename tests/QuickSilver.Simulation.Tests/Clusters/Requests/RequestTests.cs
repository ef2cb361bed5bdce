using QuickSilver.Diagnostics.Figures;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Tests.Clusters.Requests;

// Request and reply between whole nodes, in virtual time.
public sealed class RequestTests
{
    private const string Name = "sums";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void A_request_gets_the_answer_of_its_responder_and_no_view_changes()
    {
        using var cluster = Started(3);
        var responder = Respond(cluster, 1);
        var requester = Requester(cluster, 0);
        cluster.RunUntilCompleted(() => requester.AskAsync("0"));
        cluster.Run(Second);
        var before = cluster.Nodes.Select(node => Configuration(node)).ToArray();
        cluster.RunUntilCompleted(async () =>
        {
            for (int i = 1; i < 200; i++)
            {
                Assert.Equal($"{i}!", await requester.AskAsync($"{i}"));
            }

            var many = await Task.WhenAll(Enumerable.Range(0, 500).Select(i => requester.AskAsync($"{i}")));
            Assert.Equal(Enumerable.Range(0, 500).Select(i => $"{i}!"), many);
        });
        cluster.Run(Second);
        Assert.Equal(before, cluster.Nodes.Select(node => Configuration(node)));
        Assert.Equal((700, 0, 0), (responder.Answered, responder.Failed, requester.Outstanding));
    }

    [Fact]
    public void Inboxes_do_not_divide_the_regions_of_topics()
    {
        using var cluster = Started(6);
        var topics = cluster.Nodes.Select(
            node => cluster.RunUntilCompleted(node.Node.OpenTopicAsync<string>("news"))).ToList();
        var requesters = cluster.Nodes.Select(node => Requester(cluster, node.Number)).ToList();
        Respond(cluster, 5);
        cluster.RunUntilCompleted(() => Task.WhenAll(requesters.Select(one => one.AskAsync("x"))));
        cluster.RunUntilCompleted(() => topics[0].WaitForSubscribersAsync(6));
        long before = cluster.Nodes[0].Node.Read(NodeFigures.PacketsSent);
        cluster.RunUntilCompleted(async () =>
        {
            for (int i = 0; i < 100; i++)
            {
                await topics[0].PublishAsync("x", PublishCompletion.Stable);
            }
        });
        long after = cluster.Nodes[0].Node.Read(NodeFigures.PacketsSent);

        // One packet for all members of one region; acknowledgements, tokens and announcements are the rest.
        Assert.InRange(after - before, 100, 400);
        // Gauges are read twice a second.
        cluster.Run(TimeSpan.FromSeconds(1));
        Assert.All(cluster.Nodes.Take(5), node => Assert.InRange(node.Node.GetGauges().Views, 2, 3));
    }

    [Fact]
    public void A_node_may_ask_itself_and_requesters_of_one_node_do_not_mix_their_answers()
    {
        using var cluster = Started(1);
        Respond(cluster, 0);
        Respond(cluster, 0, name: "other", answer: static text => $"{text}?");
        var first = Requester(cluster, 0);
        var second = Requester(cluster, 0, name: "other");
        cluster.RunUntilCompleted(async () =>
        {
            var answers = await Task.WhenAll(first.AskAsync("1"), second.AskAsync("1"), first.AskAsync("2"), second.AskAsync("2"));
            Assert.Equal(["1!", "1?", "2!", "2?"], answers);
        });
    }

    [Fact]
    public void The_first_answer_counts_and_all_can_be_asked_for()
    {
        using var cluster = Started(4);
        var ids = cluster.Nodes.Select(node => node.Node.Id).ToArray();
        Respond(cluster, 1, answer: static text => $"{text} of 1", delay: Second / 10);
        Respond(cluster, 2, answer: static text => $"{text} of 2", delay: Second / 5);
        Respond(cluster, 3, answer: static _ => throw new IOException("no disk"));
        var requester = Requester(cluster, 0);
        cluster.RunUntilCompleted(() => requester.WaitForRespondersAsync(3));
        cluster.RunUntilCompleted(async () =>
        {
            Assert.Equal("x of 1", await requester.AskAsync("x"));
            var replies = await requester.AskAllAsync("y");
            Assert.Equal(3, replies.Count);
            var by = replies.ToDictionary(static reply => reply.Responder);
            Assert.Equal(("y of 1", "y of 2"), (by[ids[1]].Value, by[ids[2]].Value));
            Assert.Contains("no disk", Assert.IsType<ResponderFailedException>(by[ids[3]].Error).Message, StringComparison.Ordinal);
            replies = await requester.AskAllAsync("z", Second / 7);
            Assert.Equal(1, replies.Count(static reply => reply.Error is null));
            Assert.Equal(ids[2], Assert.Single(replies, static reply => reply.Error is RequestTimeoutException).Responder);
        });
    }

    [Fact]
    public void Without_a_responder_a_request_waits_for_one_and_then_ends()
    {
        using var cluster = Started(2);
        var requester = Requester(cluster, 0);
        cluster.RunUntilCompleted(async () =>
        {
            var began = cluster.Now;
            var error = await Assert.ThrowsAsync<NoResponderException>(() => requester.AskAsync("x"));
            Assert.Equal(
                "No node responds to requests for \"sums\", for 1 s. The request was not sent. Open a responder with the same name and "
                + "types, or raise WaitForResponder.",
                error.Message);
            Assert.InRange(cluster.Now - began, Second, Second * 1.1);
            await Assert.ThrowsAsync<NoResponderException>(() => requester.AskAllAsync("x", Second / 2));
            Assert.InRange(cluster.Now - began, Second * 1.5, Second * 1.7);
        });
        Task<string>? asked = null;
        cluster.Nodes[0].Post(() =>
        {
            asked = requester.AskAsync("x");
            return Task.CompletedTask;
        });
        cluster.Run(Second / 2);
        Respond(cluster, 1);
        cluster.Eventually("the responder that came later answers", () => asked!.IsCompletedSuccessfully);
        Assert.Equal("x!", cluster.RunUntilCompleted(asked!));
    }

    // The service stands still between its grant and the view of the topic.
    [Fact]
    public void A_request_waits_until_its_node_knows_who_responds()
    {
        using var cluster = Started(3);
        Respond(cluster, 2);
        var requester = Requester(cluster, 1);
        Assert.Equal(0, requester.Responders);
        Service(cluster).Pause(Second * 2);
        var began = cluster.Now;
        Assert.Equal("x!", cluster.RunUntilCompleted(requester.AskAsync("x")));
        Assert.InRange(cluster.Now - began, Second * 1.5, Second * 3);
    }

    [Fact]
    public void A_request_whose_node_does_not_learn_who_responds_says_so_at_its_deadline()
    {
        using var cluster = Started(3);
        var requester = Requester(cluster, 1, new RequesterOptions { Timeout = Second * 1.5 });
        Service(cluster).Pause(Second * 2);
        var error = Assert.Throws<NoResponderException>(() => cluster.RunUntilCompleted(requester.AskAsync("x")));
        Assert.Contains("did not learn within 1.5 s", error.Message, StringComparison.Ordinal);
        // When it is known that there is none, the wait for one begins.
        var began = cluster.Now;
        error = Assert.Throws<NoResponderException>(() => cluster.RunUntilCompleted(requester.AskAsync("x")));
        Assert.Contains("No node responds", error.Message, StringComparison.Ordinal);
        Assert.InRange(cluster.Now - began, Second, Second * 1.6);
    }

    [Theory]
    [InlineData(0.2, 1, "Open a responder with the same name and types, or give the request more time.")]
    [InlineData(2, 86400, "Open a responder with the same name and types, or give the request more time.")]
    [InlineData(0.2, 0.2, "Open a responder with the same name and types, or give the request more time and raise WaitForResponder.")]
    public void A_request_whose_deadline_ends_the_wait_for_a_responder_says_so(double deadline, double wait, string advice)
    {
        using var cluster = Started(2);
        var requester = Requester(cluster, 0, new RequesterOptions { Timeout = Second * deadline, WaitForResponder = Second * wait });
        // After that, it is known which node responds.
        cluster.Run(Second);
        Assert.Throws<NoResponderException>(() => cluster.RunUntilCompleted(requester.AskAsync("x")));
        var error = Assert.Throws<NoResponderException>(() => cluster.RunUntilCompleted(requester.AskAsync("x")));
        Assert.Equal(
            string.Create(
                System.Globalization.CultureInfo.InvariantCulture,
                $"No node responds to requests for \"sums\", and the {deadline} s of this one are over. It was not sent. {advice}"),
            error.Message);
    }

    [Fact]
    public void A_failure_is_reported_with_its_message_and_a_deadline_with_its_time()
    {
        using var cluster = Started(2);
        var responder = Respond(cluster, 1, answer: static text => text switch
        {
            "fail" => throw new IOException("no disk"),
            "null" => null!,
            _ => text,
        }, delay: Second / 2);
        var requester = Requester(cluster, 0);
        cluster.RunUntilCompleted(async () =>
        {
            var failed = await Assert.ThrowsAsync<ResponderFailedException>(() => requester.AskAsync("fail"));
            Assert.Equal(("no disk", cluster.Nodes[1].Node.Id), (failed.Error, failed.Responder));
            await Assert.ThrowsAsync<ResponderFailedException>(() => requester.AskAsync("null"));
            var began = cluster.Now;
            var late = await Assert.ThrowsAsync<RequestTimeoutException>(() => requester.AskAsync("slow", Second / 10));
            Assert.Equal(Second / 10, late.Timeout);
            Assert.Contains(" came within 0.1 s from the responder ", late.Message, StringComparison.Ordinal);
            Assert.InRange(cluster.Now - began, Second / 10, Second / 10 * 1.3);
            Assert.Equal("next", await requester.AskAsync("next"));
        });
        Assert.Equal((2, 2), (responder.Failed, responder.Answered));
        Assert.Throws<ArgumentOutOfRangeException>(() => { _ = requester.AskAsync("x", TimeSpan.Zero); });
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_responder_that_is_killed_in_the_middle_gives_a_typed_error(bool silently)
    {
        using var cluster = Started(3);
        Respond(cluster, 1, delay: Second * 50);
        Respond(cluster, 2, delay: Second * 50);
        var requester = Requester(cluster, 0, new RequesterOptions { Timeout = Second * 120 });
        cluster.RunUntilCompleted(() => requester.WaitForRespondersAsync(2));
        Task<string>? one = null;
        Task<IReadOnlyList<Reply<string>>>? all = null;
        var killed = cluster.Nodes[1].Node.Id;
        cluster.Nodes[0].Post(() =>
        {
            one = requester.AskAsync("x");
            all = requester.AskAllAsync("x");
            return Task.CompletedTask;
        });
        cluster.Run(Second);
        cluster.Nodes[1].Crash(silently);
        cluster.Run(Second * 20);
        Assert.False(one!.IsCompleted || all!.IsCompleted);
        cluster.Eventually("the answers of the other", () => one.IsCompletedSuccessfully && all!.IsCompletedSuccessfully);
        var replies = cluster.RunUntilCompleted(all!);
        Assert.Equal(killed, Assert.Single(replies, static reply => reply.Error is ResponderLeftException).Responder);
        cluster.Nodes[0].Post(() =>
        {
            one = requester.AskAsync("y");
            return Task.CompletedTask;
        });
        cluster.Run(Second);
        cluster.Nodes[2].Crash(silently);
        cluster.Eventually("the request fails", () => one.IsFaulted, Second * 30);
        Assert.IsType<ResponderLeftException>(one.Exception!.InnerException);
        Assert.Equal(0, requester.Outstanding);
    }

    [Fact]
    public void A_responder_that_is_disposed_answers_what_it_has_begun_and_fails_the_rest()
    {
        using var cluster = Started(2);
        var responder = Respond(cluster, 1, delay: Second / 2, options: new ResponderOptions { Concurrency = 2 });
        var requester = Requester(cluster, 0, new RequesterOptions { Timeout = Second * 30 });
        cluster.RunUntilCompleted(() => requester.WaitForRespondersAsync(1));
        Task<string>[] asked = [];
        cluster.Nodes[0].Post(() =>
        {
            asked = [.. Enumerable.Range(0, 5).Select(i => requester.AskAsync($"{i}"))];
            return Task.CompletedTask;
        });
        cluster.Run(Second / 10);
        cluster.Nodes[1].Post(async () => await responder.DisposeAsync());
        cluster.Eventually("all have ended", () => asked.All(static one => one.IsCompleted));
        var answered = asked.Where(static one => one.IsCompletedSuccessfully).Select(one => cluster.RunUntilCompleted(one));
        Assert.Equal(["0!", "1!"], answered);
        Assert.Equal(3, asked.Count(static one => one.Exception?.InnerException is ResponderLeftException));
        Assert.True(responder.Completion.IsCompletedSuccessfully);
    }

    [Fact]
    public void Places_are_bounded_and_are_free_again_after_an_answer_a_deadline_a_token_and_the_end()
    {
        using var cluster = Started(2);
        Respond(cluster, 1, delay: Second, options: new ResponderOptions { Concurrency = 100 });
        var requester = Requester(cluster, 0, new RequesterOptions { MaxOutstanding = 10, Timeout = Second * 5 });
        using var stop = new CancellationTokenSource();
        cluster.RunUntilCompleted(async () =>
        {
            await requester.WaitForRespondersAsync(1);
            for (int round = 0; round < 3; round++)
            {
                var answered = Enumerable.Range(0, 4).Select(i => requester.AskAsync($"{i}")).ToArray();
                var late = Enumerable.Range(0, 3).Select(i => requester.AskAsync($"{i}", Second / 10)).ToArray();
                using var token = new CancellationTokenSource();
                var cancelled = Enumerable.Range(0, 3).Select(i => requester.AskAsync($"{i}", token.Token)).ToArray();
                Assert.Equal(10, requester.Outstanding);
                var refused = await Assert.ThrowsAsync<TooManyRequestsException>(() => requester.AskAsync("x"));
                Assert.Equal(10, refused.Limit);
                token.Cancel();
                Assert.All(cancelled, static one => Assert.True(one.IsCanceled));
                Assert.Equal(7, requester.Outstanding);
                await Assert.ThrowsAsync<RequestTimeoutException>(() => Task.WhenAll(late));
                Assert.Equal(4, requester.Outstanding);
                await Task.WhenAll(answered);
                Assert.Equal(0, requester.Outstanding);
            }

            var last = requester.AskAsync("last");
            await requester.DisposeAsync();
            await Assert.ThrowsAsync<ObjectDisposedException>(() => last);
            await Assert.ThrowsAsync<ObjectDisposedException>(() => requester.AskAsync("x"));
            Assert.Equal(0, requester.Outstanding);
        });
    }

    [Fact]
    public void An_inline_responder_answers_at_once_and_is_busy_when_too_many_of_its_handlers_wait()
    {
        using var cluster = Started(2);
        var responder = Respond(cluster, 1, options: new ResponderOptions { Inline = true });
        var waiting = Respond(cluster, 1, delay: Second, options: new ResponderOptions { Inline = true, Concurrency = 2 }, name: "waiting");
        var requester = Requester(cluster, 0);
        var other = Requester(cluster, 0, name: "waiting");
        cluster.RunUntilCompleted(async () =>
        {
            var many = await Task.WhenAll(Enumerable.Range(0, 200).Select(i => requester.AskAsync($"{i}")));
            Assert.Equal(Enumerable.Range(0, 200).Select(i => $"{i}!"), many);
            Task<string>[] three = [other.AskAsync("1"), other.AskAsync("2"), other.AskAsync("3")];
            await Assert.ThrowsAsync<ResponderFailedException>(() => Task.WhenAll(three));
            Assert.Equal(2, three.Count(static one => one.IsCompletedSuccessfully));
            await responder.DisposeAsync();
            await waiting.DisposeAsync();
        });
        Assert.Equal(SubscriptionEndReason.Disposed, cluster.RunUntilCompleted(responder.Completion).Reason);
        Assert.Equal((200, 2, 1), (responder.Answered, waiting.Answered, waiting.Failed));
    }

    [Fact]
    public void Requests_of_a_node_that_was_removed_end_with_the_reason()
    {
        using var cluster = Started(3);
        Respond(cluster, 1, delay: Second * 100);
        var requester = Requester(cluster, 2, new RequesterOptions { Timeout = Second * 200 });
        Task<string>? asked = null;
        cluster.Nodes[2].Post(() =>
        {
            asked = requester.AskAsync("x");
            return Task.CompletedTask;
        });
        cluster.Run(Second);
        cluster.Nodes[2].Pause(Second * 60);
        cluster.Eventually("the request has ended", () => asked!.IsFaulted, Second * 90);
        Assert.IsType<NodeExpelledException>(asked!.Exception!.InnerException);
    }

    [Fact]
    public void A_requester_with_another_type_of_answer_is_refused()
    {
        using var cluster = Started(2);
        Respond(cluster, 1);
        var error = Assert.Throws<ContractMismatchException>(
            () => cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenRequesterAsync<string, byte[]>(Name)));
        Assert.Contains("reply", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Requests_whose_deadline_passes_while_they_wait_are_not_handled()
    {
        using var cluster = Started(2);
        var responder = Respond(
            cluster, 1, delay: Second / 10, options: new ResponderOptions { Concurrency = 1, Capacity = 200 });
        var requester = Requester(cluster, 0, new RequesterOptions { Timeout = Second });
        int answered = 0;
        int late = 0;
        cluster.RunUntilCompleted(async () =>
        {
            await requester.WaitForRespondersAsync(1);
            var asked = Enumerable.Range(0, 100).Select(i => requester.AskAsync($"{i}")).ToArray();
            foreach (var one in asked)
            {
                try
                {
                    await one;
                    answered++;
                }
                catch (RequestTimeoutException)
                {
                    late++;
                }
            }
        });
        cluster.Eventually("the rest has expired", () => responder.Answered + responder.Expired == 100);
        Assert.InRange(answered, 8, 12);
        Assert.Equal(100 - answered, late);
        Assert.InRange(responder.Answered, answered, answered + 2);
    }

    private static SimulatedCluster Started(int nodes)
    {
        var cluster = new SimulatedCluster(nodes, seed: 7);
        cluster.Start();
        return cluster;
    }

    private static SimulatedMachine Service(SimulatedCluster cluster) =>
        cluster.Machines.Nodes.Single(static machine => machine.Life!.Endpoints.IsListening);

    private static long Configuration(SimulatedNode node) => node.Node.GetGauges().Configuration;

    private static IRequester<string, string> Requester(
        SimulatedCluster cluster, int node, RequesterOptions? options = null, string name = Name) =>
        cluster.RunUntilCompleted(cluster.Nodes[node].Node.OpenRequesterAsync<string, string>(name, options));

    private static IResponder Respond(
        SimulatedCluster cluster,
        int node,
        Func<string, string>? answer = null,
        TimeSpan delay = default,
        ResponderOptions? options = null,
        string name = Name)
    {
        var owner = cluster.Nodes[node];
        answer ??= static text => $"{text}!";
        return cluster.RunUntilCompleted(owner.Node.OpenResponderAsync<string, string>(
            name,
            async (request, stop) =>
            {
                if (delay > TimeSpan.Zero)
                {
                    await Task.Delay(delay, owner.Time, stop);
                }

                return answer(request.Value);
            },
            options));
    }
}
